"""What can be wrong with a value that is to travel."""


class Unfit(Exception):
    """This form cannot hold the value exactly; another may."""


class CannotTravel(Exception):
    """The value is, or holds, something that only exists in this process. The text says what."""


class TooMuch(Exception):
    """The value is larger than was allowed."""


class Lacking(Exception):
    """A library that the value needs is not there. The text names it."""
