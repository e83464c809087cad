"""What a process holds of the machine's memory."""

import mmap

from orchestrator.process_memory import own_bytes

NUM_BYTES = 200 * 2**20


def test_what_a_process_holds_by_itself_counts_and_mapped_files_do_not(tmp_path):
    """Data sets are mapped into memory, and cost nothing that a new process would give back."""
    before = own_bytes()
    file = tmp_path / "data"
    file.write_bytes(bytes(NUM_BYTES))
    with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, prot=mmap.PROT_READ) as data:
        assert sum(data[:: mmap.PAGESIZE]) == 0
        assert own_bytes() - before < NUM_BYTES // 4
        held = bytearray(b"x") * NUM_BYTES
        assert own_bytes() - before > NUM_BYTES // 2
        assert len(held) == NUM_BYTES
