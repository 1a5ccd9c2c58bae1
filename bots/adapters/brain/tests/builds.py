"""What a student does: brain.cpp as it was saved, and mistakes that the compiler must explain."""

import shutil
import subprocess
import sys
from pathlib import Path

cmake, generator, harness, into = sys.argv[1:]
into = Path(into)
shutil.rmtree(into, ignore_errors=True)
good = Path(harness, "examples/first/brain.cpp").read_text(encoding="utf-8")
# In GBK the last byte of 乗 and of 運 is a backslash: at the end of a line it would swallow the
# next one.
trap = good.replace("    vector<Tile> hand;", "    // 乗\n    vector<Tile> hand;  // 運\n")
assert "乗" in trap and trap.encode("gbk").count(b"\\\n") == 2

saved = {
    "crlf": trap.replace("\n", "\r\n").encode(),
    "bom": b"\xef\xbb\xbf" + trap.encode(),
    "gbk": trap.encode("gbk"),
    "gbk-crlf": trap.replace("\n", "\r\n").encode("gbk"),
}
mistakes = {
    "no-brain": ("#include \"brain.h\"\nint x;\n", "your brain.cpp has no `class MyBrain"),
    "no-base": ("#include \"brain.h\"\nclass MyBrain {};\n", "MyBrain must be a Brain"),
    "private-base": (good.replace(": public Brain", ": Brain"), "MyBrain must be a Brain"),
    "abstract": (good.replace("getOppDiscard", "oppDiscard"), "MyBrain lacks one of"),
    "arguments": (good.replace("public:", "public:\n    MyBrain(int x) {}"), "needs a public constructor"),
}


def run(*command):
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    )
    return done.returncode, done.stdout


def configure(name, contents):
    folder = into / name
    folder.mkdir(parents=True)
    (folder / "brain.cpp").write_bytes(contents)
    return run(
        cmake, "-S", harness, "-B", into / "build", "-G", generator, f"-DBRAIN={folder}/brain.cpp",
        "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=",
    )


def refused(*arguments):
    """What CMake says of these, as one line: it wraps its words by the length of the paths in them."""
    code, said = run(cmake, "-S", harness, "-G", generator, *arguments)
    assert code != 0, said
    return " ".join(said.split())


def build():
    return run(cmake, "--build", into / "build", "--target", "brain")


for name, contents in saved.items():
    code, said = configure(name, contents)
    assert code == 0, said
    code, said = build()
    assert code == 0, said
    assert "warning" not in said, said
    print(f"{name}: builds")

# What is not UTF-8 and is saved again is built again: the last one.
(into / name / "brain.cpp").write_bytes(trap.replace("MyBrain", "YourBrain").encode("gbk"))
code, said = build()
assert code != 0 and "has no `class MyBrain" in said, said

# One project, whose file is saved with one mistake after the other.
code, said = configure("mistaken", good.encode())
assert code == 0, said
for name, (contents, words) in mistakes.items():
    (into / "mistaken/brain.cpp").write_text(contents, encoding="utf-8")
    code, said = build()
    assert code != 0 and words in said, f"{name}: {said}"
    errors = [line for line in said.splitlines() if "error:" in line]
    assert len(errors) == 1, "\n".join(errors)
    print(f"{name}: {errors[0].split('error: ')[1]}")

said = refused("-B", into / "nothing")
assert "-DBRAIN=/path/to/brain.cpp" in said, said
said = refused("-B", into / "none", f"-DBRAIN={into}/none.cpp")
assert f"{into}/none.cpp is no file: say -DBRAIN=/path/to/brain.cpp" in said, said
