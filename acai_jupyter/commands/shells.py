"""What a shell is to be told once, so that TAB after `acai` goes on with what there is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from acai_jupyter.commands.results import Result

if TYPE_CHECKING:
    from argparse import Namespace

    from acai_jupyter.client.http import Client

SCRIPTS = {
    "bash": """\
_acai() {
    mapfile -t COMPREPLY < <(COMP_LINE=$COMP_LINE COMP_POINT=$COMP_POINT acai acai "$2" "$3" 2>/dev/null)
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[/:=] ]]; then compopt -o nospace; fi
}
complete -o nosort -F _acai acai
""",
    "zsh": """\
#compdef acai
_acai() {
    local -a found open
    found=("${(@f)$(COMP_LINE="${(j: :)words[1,CURRENT-1]} $PREFIX" COMP_POINT= acai acai "$PREFIX" '' 2>/dev/null)}")
    found=(${found:#})
    open=(${(M)found:#*[/:=]})
    found=(${found:#*[/:=]})
    compadd -Q -V acai -S '' -a open
    compadd -Q -V acai -a found
}
if [[ $funcstack[1] == _acai ]]; then _acai "$@"; else compdef _acai acai; fi
""",
    "fish": """\
function __acai_complete
    set -lx COMP_LINE (commandline -cp)
    set -lx COMP_POINT ''
    acai acai (commandline -ct) '' 2>/dev/null
end
complete -c acai -f -k -a '(__acai_complete)'
""",
}
"""Each asks `acai` itself, as `complete -C` of bash does. No space follows what ends with / : or =."""


class Script(msgspec.Struct, frozen=True):
    """What a shell reads."""

    shell: str
    script: str


def completion(client: Client | None, arguments: Namespace) -> Result:
    """Return the script for a shell."""
    del client
    found = Script(arguments.shell, SCRIPTS[arguments.shell])
    return Result(found.script.rstrip("\n"), found, "completion")
