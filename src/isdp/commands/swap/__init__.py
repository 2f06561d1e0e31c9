"""`isdp swap`: exchange values between records."""

from isdp.commands.swap.run import swap_file

__all__ = ["swap_file"]
