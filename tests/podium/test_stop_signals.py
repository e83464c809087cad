import os
import signal

import pytest

from podium.errors import PodiumError
from podium.stop_signals import Stopped, StopSignals
from podium.trainables.errors import TrialInputError

NUMBERS = [signal.SIGINT, signal.SIGTERM, signal.SIGUSR1]
every_signal = pytest.mark.parametrize("number", NUMBERS)


class Training:
    stops = 0

    def stop(self):
        self.stops += 1


def send(number):
    os.kill(os.getpid(), number)


@every_signal
def test_before_training_a_signal_ends_the_run_at_once(number):
    with pytest.raises(Stopped), StopSignals():
        send(number)


@every_signal
def test_what_trains_is_asked_to_stop_once_however_often_a_signal_is_repeated(number):
    training = Training()
    with StopSignals() as signals, signals.stopping(training.stop):
        send(number)
        send(signal.SIGTERM)
        send(signal.SIGUSR1)
    assert training.stops == 1


@every_signal
def test_a_later_ctrl_c_does_not_wait_for_what_trains(number):
    training = Training()
    with StopSignals() as signals, signals.stopping(training.stop):
        send(number)
        with pytest.raises(Stopped):
            send(signal.SIGINT)
    assert training.stops == 1


def test_a_signal_repeated_while_the_run_is_ending_cuts_nothing_short():
    with StopSignals() as signals:
        with signals.stopping(Training().stop):
            send(signal.SIGUSR1)
        send(signal.SIGTERM)


@pytest.mark.parametrize("kind", [ImportError, TrialInputError])
def test_an_error_that_a_stop_became_on_its_way_is_a_stop(kind):
    with pytest.raises(Stopped), StopSignals():
        _stopped_and_then(kind("the import was broken off"))


def test_an_error_of_the_user_s_after_a_stop_is_shown():
    with pytest.raises(PodiumError, match="the store is full"), StopSignals():
        _stopped_and_then(PodiumError("the store is full"))


def _stopped_and_then(error):
    try:
        send(signal.SIGINT)
    except Stopped as stop:
        raise error from stop


def test_handlers_are_given_back():
    before = [signal.getsignal(number) for number in NUMBERS]
    with StopSignals():
        pass
    assert [signal.getsignal(number) for number in NUMBERS] == before
