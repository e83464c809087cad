"""What Ray may not take from the process of a run: its terminal and its signals."""

import ctypes
import os
import signal

from podium.orchestrator.executors.ray_messages import kept_sigterm_handler


def test_sigterm_reaches_the_handler_of_before_though_native_code_took_it():
    received = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: received.append(number))
    try:
        with kept_sigterm_handler():
            ctypes.CDLL(None).signal(int(signal.SIGTERM), ctypes.c_void_p(1))  # SIG_IGN
            os.kill(os.getpid(), signal.SIGTERM)
            assert received == []
        os.kill(os.getpid(), signal.SIGTERM)
        assert received == [signal.SIGTERM]
    finally:
        signal.signal(signal.SIGTERM, before)
