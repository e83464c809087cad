"""What the tests of a tournament count as independent, which follows from what they ask."""

from abc import ABC, abstractmethod


class IndependentUnits(ABC):
    """The units of all tests of a tournament, in words."""

    @property
    @abstractmethod
    def question(self) -> str:
        """What the tests answer."""

    @property
    @abstractmethod
    def number(self) -> int:
        """Count of units."""

    @property
    @abstractmethod
    def noun(self) -> str:
        """One unit, in one word."""

    @property
    @abstractmethod
    def one(self) -> str:
        """One unit, and what it is a part of: ``group of blocks``."""

    @property
    @abstractmethod
    def counted(self) -> str:
        """Their number, and what they are: ``3 groups of blocks with one data set``."""

    @abstractmethod
    def more(self, number: int) -> str:
        """So many further units: ``3 more data sets``."""

    @property
    @abstractmethod
    def why_untestable(self) -> str:
        """Why there is too little for any test; empty if there is enough."""
