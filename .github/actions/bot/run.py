"""Checks the bot of a checkout and plays it against that of a base commit, by the program `arena`; writes
a table into the summary of the job. Its inputs are variables of the environment, which action.yml names.

Exit codes: 0 all is well; 1 the bot is not fit, has committed a foul, or is weaker than the base; 2 a step
failed.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Iterator

Event = dict[str, Any]


class Failed(Exception):
    """A step that failed: which, and why."""


def main() -> int:
    checkout = Path.cwd()
    try:
        build(checkout)
        fit, told = check(checkout)
        decision = elo = ""
        is_well = fit
        if fit and text("BASE"):
            with worktree(checkout, text("BASE")) as base:
                build(base)
                standings, figures = match(checkout, base)
            decision, elo, table = compared(standings)
            fouls = fouls_of_head(figures)
            told += table + fouls
            is_well = decision != "h0" and not fouls
    except Failed as failure:
        print(f"::error::{failure}")
        print(f"bot: {failure}", file=sys.stderr)
        return 2
    write("GITHUB_STEP_SUMMARY", [f"### {text('GAME')}: `{text('BOT')}`", "", *told])
    write("GITHUB_OUTPUT", [f"fit={str(fit).lower()}", f"decision={decision}", f"elo={elo}"])
    return 0 if is_well else 1


def check(checkout: Path) -> tuple[bool, list[str]]:
    """Whether the bot is fit to enter, and the lines of a table of what was found."""
    events = arena("check", spec(checkout), f"--game={text('GAME')}", *limit())
    [end] = [event for event in events if event["type"] == "check_ended"]
    is_fit = bool(end["fit"])
    verdict = "the bot is fit" if is_fit else "the bot is not fit"
    lines = [f"| {verdict} | severity | what was seen |", "| --- | --- | --- |"]
    for event in events:
        if event["type"] == "finding":
            lines.append(f"| `{event['id']}` | {event['severity']} | {cell(event['actual'])} |")
    return is_fit, lines


def match(checkout: Path, base: Path) -> tuple[Event, Event]:
    """The standings and figures of a match of both."""
    sprt = shlex.split(text("SPRT"))
    bots = [f"--bot={name}={spec(at)}" for name, at in [("head", checkout), ("base", base)]]
    words = [*limit(), f"--deals={text('DEALS')}", "--no-records", "--sprt", *sprt]
    events = {event["type"]: event for event in arena("match", text("GAME"), *bots, *words)}
    return events["standings"], events["figures"]


def compared(standings: Event) -> tuple[str, str, list[str]]:
    """The decision of the test (h0, h1 or nothing), the difference in Elo, and the lines of a table."""
    [row] = [row for row in standings["rows"] if row["bot"] == "head"]
    [pair] = standings["pairs"]
    test = pair["test"]
    decision = test.get("decision", "")
    verdict = f"{decision.upper()} is accepted" if decision else "no decision"
    elo = pair["comparison"]["elo"]
    value, error = elo.get("value"), elo.get("error")
    if value is None:
        shown, number = "not enough games", ""
    else:
        sign = 1 if pair["first"] == "head" else -1
        number = f"{sign * value:.1f}"
        shown = number if error is None else f"{number} ± {error:.1f}"
    score = f"{row['wins']} - {row['draws']} - {row['losses']}"
    llr = f"{test['llr']:.2f} in ({test['lower']:.2f}, {test['upper']:.2f})"
    lines = [
        "",
        "| head against base | games | won - drawn - lost | Elo | LLR | verdict |",
        "| --- | ---: | ---: | ---: | ---: | --- |",
        f"| `{text('SPRT')}` | {row['games']} | {score} | {shown} | {llr} | {verdict} |",
    ]
    return decision, number, lines


def fouls_of_head(figures: Event) -> list[str]:
    """The lines of a table of the fouls of the bot that is checked; none where there was none."""
    [head] = [bot for bot in figures["bots"] if bot["bot"] == "head"]
    rows = [f"| `{kind}` | {count} |" for kind, count in head["fouls"].items()]
    return ["", "| fouls of head | games |", "| --- | ---: |", *rows] if rows else []


def arena(verb: str, *words: str) -> list[Event]:
    """What this verb of `arena` tells as events, whatever its answer is."""
    command = [os.environ.get("ARENA", "arena"), verb, *words, "--format=json"]
    print(f"$ {shlex.join(command)}", flush=True)
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    except OSError as error:
        raise Failed(f"could not start {command[0]}: {error}") from error
    # 1 is the answer no, which the events say better.
    if done.returncode not in (0, 1):
        raise Failed(f"`arena {verb}` failed: exit code {done.returncode}; its log says why")
    return [json.loads(line) for line in done.stdout.splitlines()]


def build(checkout: Path) -> None:
    command = text("BUILD")
    if command:
        print(f"$ {command}", flush=True)
        code = subprocess.run(["bash", "-euc", command], cwd=checkout, check=False).returncode
        if code != 0:
            raise Failed(f"the build ended with {code} in {checkout}")


@contextmanager
def worktree(checkout: Path, commit: str) -> Iterator[Path]:
    """A folder with the files of another commit, gone at the end."""
    folder = Path(os.environ["RUNNER_TEMP"], "bot-arena-base")

    def git(*words: str) -> bool:
        return subprocess.run(["git", *words], cwd=checkout, check=False).returncode == 0

    # A job checks out one commit, if it is not told to take all.
    if not git("cat-file", "-e", f"{commit}^{{commit}}"):
        if not git("fetch", "--quiet", "--depth=1", "origin", commit):
            raise Failed(
                f"there is no commit `{commit}`, and it can't be fetched: give actions/checkout "
                "`fetch-depth: 0`"
            )
        commit = "FETCH_HEAD"
    if not git("worktree", "add", "--quiet", "--force", "--detach", str(folder), commit):
        raise Failed(f"could not check out `{commit}`")
    try:
        yield folder
    finally:
        git("worktree", "remove", "--force", str(folder))


def spec(checkout: Path) -> str:
    return text("BOT").replace("{folder}", shlex.quote(str(checkout)))


def limit() -> list[str]:
    return [f"--move-limit={text('MOVE_LIMIT')}"]


def text(name: str) -> str:
    return os.environ.get(name, "").strip()


def cell(words: str) -> str:
    """A text of any length as a cell of a table."""
    return " ".join(words.split()).replace("|", "\\|")


def write(variable: str, lines: list[str]) -> None:
    """Adds lines to a file of the job."""
    with open(os.environ[variable], "a", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)


if __name__ == "__main__":
    sys.exit(main())
