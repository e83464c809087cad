"""What a process holds of the machine's memory."""

import mmap

from podium.orchestrator.worker.process_memory import process_bytes

NUM_BYTES = 200 * 2**20


def test_mapped_files_do_not_count_to_what_a_process_holds_by_itself(tmp_path):
    """Data sets are mapped into memory, and cost nothing that a new process would give back."""
    file = tmp_path / "data"
    file.write_bytes(bytes(NUM_BYTES))
    before = process_bytes()
    with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, prot=mmap.PROT_READ) as data:
        assert sum(data[:: mmap.PAGESIZE]) == 0
        assert process_bytes() - before < NUM_BYTES // 4


def test_memory_that_is_written_to_counts_to_what_a_process_holds_by_itself():
    before = process_bytes()
    # Not a bytearray: that may lie where earlier tests have left free memory.
    with mmap.mmap(-1, NUM_BYTES, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as held:
        held[:: mmap.PAGESIZE] = b"x" * (NUM_BYTES // mmap.PAGESIZE)
        assert process_bytes() - before > NUM_BYTES // 2
