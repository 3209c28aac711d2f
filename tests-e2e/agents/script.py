"""What the scripted model answers, in the terms of both protocols.

The conversation alone determines the answer, so that a test chooses it by its prompt:
each `<<call NAME ARGUMENTS>>` in it calls a tool, one after the other, and the last result is told at the end;
`<<overloaded>>` fails with an overload error; anything else gets a greeting. A tool that the request does not offer is
not called.
"""

import base64
import dataclasses
import json
import re

GREETING = "Hello from the scripted model."
PROMPT_TOKENS = 1000
ANSWER_TOKENS = 10
# The arguments are in base64, because agents change quotes in a prompt.
CALL = re.compile(r"<<call (\S+) ([A-Za-z0-9+/=]+)>>")
OVERLOADED = "<<overloaded>>"


@dataclasses.dataclass
class Turn:
    """A message of the conversation: a text of the user or the model, or a tool's result."""

    role: str
    text: str


@dataclasses.dataclass
class Answer:
    """Either a text or a call of a tool."""

    text: str = ""
    tool: str = ""
    arguments: str = ""
    # Calls of one conversation have different ids, or agents take them for the same call.
    call_id: str = ""


def request_call(tool, **arguments):
    """The part of a prompt that makes the model call a tool."""
    written = base64.b64encode(json.dumps(arguments).encode()).decode()
    return f"<<call {tool} {written}>>"


def is_overloaded(turns):
    return any(OVERLOADED in turn.text for turn in turns if turn.role == "user")


def plan_answer(turns, offered):
    """The answer to a conversation; `offered` has the names of the request's tools."""
    wanted, results = [], []
    for turn in turns:
        found = CALL.findall(turn.text) if turn.role == "user" else []
        if found:
            wanted, results = found, []
        elif turn.role == "tool":
            results.append(turn.text)
    if len(results) < len(wanted):
        tool, arguments = wanted[len(results)]
        if tool in offered:
            written = base64.b64decode(arguments).decode()
            return Answer(tool=tool, arguments=written, call_id=f"call_{len(results) + 1}")
        return Answer(text=f"The tool {tool} is not offered.")
    return Answer(text=f"The tool says: {results[-1]}" if wanted else GREETING)
