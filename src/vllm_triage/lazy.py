"""Regular expressions that are compiled when they are first used.

One log needs few of them, and to compile them all takes longer than to read it.
"""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


def lazy(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """What `re.compile` gives, compiled at the first use of one of its methods.

    Raises:
        re.error: At that first use, if it is no pattern.
    """
    return cast("re.Pattern[AnyStr]", _Lazy(pattern, flags))


class _Lazy:
    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self.pattern = pattern
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        # A method is looked up here once; afterwards it stands in the instance.
        method = getattr(re.compile(self.pattern, self._flags), name)
        self.__dict__[name] = method
        return method
