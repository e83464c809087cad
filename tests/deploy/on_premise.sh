#!/usr/bin/env bash
# The launcher for machines of one's own, for real: `ray up`, a study and `ray down` over ssh, from a
# head to one worker. Runs in namespaces of its own (processes, mounts, network, host name), and the
# worker in a second set; a pair of virtual network cards joins them.
#
#   on_premise.sh FOLDER PROGRAMS   FOLDER holds launcher.yaml and study.yaml, PROGRAMS ray and podium
set -euo pipefail
folder=$1
export PATH="$2:$PATH" RAY_USAGE_STATS_ENABLED=0

# A home of its own, for ssh too.
export HOME="$folder/home"
mkdir -m 700 "$HOME" "$HOME/.ssh"
sed "s#^\($(id -un):.*\):[^:]*:\([^:]*\)\$#\1:$HOME:\2#" /etc/passwd >"$folder/passwd"
mount --bind "$folder/passwd" /etc/passwd
mount -t tmpfs tmpfs /run && mkdir /run/sshd
ssh-keygen -q -t ed25519 -N '' -f "$HOME/.ssh/id_ed25519"
cp "$HOME/.ssh/id_ed25519.pub" "$HOME/.ssh/authorized_keys"
ssh-keygen -q -t ed25519 -N '' -f "$folder/host_key"
echo "export PYTHONPATH=$PYTHONPATH OMP_NUM_THREADS=1" >"$HOME/.bashrc"
echo "source ~/.bashrc" >"$HOME/.profile"

listen="/usr/sbin/sshd -D -e -h $folder/host_key -o PermitRootLogin=yes -o StrictModes=no"
listen+=" -o UsePAM=no -o PidFile=none"
mkdir -p /tmp/ray
unshare --net --uts --mount --pid --fork --kill-child --mount-proc bash -c "
  hostname worker
  mount -t tmpfs tmpfs /tmp/ray
  ip link set lo up
  until ip link show card >/dev/null 2>&1; do sleep 0.05; done
  ip address add 10.78.0.2/24 dev card
  ip link set card up
  ip route add default via 10.78.0.1
  exec $listen" &
worker=$!
hostname head
mount -t tmpfs tmpfs /tmp/ray
ip link set lo up
until [[ $(readlink "/proc/$worker/ns/net") != $(readlink /proc/self/ns/net) ]]; do sleep 0.05; done
ip link add card0 type veth peer name card netns "$worker"
ip address add 10.78.0.1/24 dev card0
ip link set card0 up
ip route add default via 10.78.0.2
$listen &
for host in 10.78.0.1 10.78.0.2; do
  until ssh -o BatchMode=yes -o StrictHostKeyChecking=no "$host" true; do sleep 0.2; done
done

(umask 077 && ray get-auth-token --generate >"$folder/token")
export RAY_UP_enable_autoscaler_v2=0
ray up --yes --no-config-cache "$folder/launcher.yaml"
ray exec --no-config-cache "$folder/launcher.yaml" \
  "cd $folder && podium run study.yaml --address auto --storage $folder/results --no-report"
ray down --yes "$folder/launcher.yaml"
