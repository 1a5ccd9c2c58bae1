//! The register of bots: who may take part, by name and version.

use std::fs;

use crate::vocabulary::*;

fn add(line: &str) -> String {
    format!("bots add {line}")
}

/// `villain LINE`, as `bots add` wants it.
fn is_villain(line: &str) -> String {
    format!("--bot \"exec:'{}' {line}\"", villain_program().display())
}

#[test]
fn a_game_that_is_named_twice_is_registered_once() {
    let arena = Arena::new();
    let twice = "twice --bot house:random --game mahjong --game mahjong";
    let said = done(&arena.run(&add(twice)));
    assert_eq!(said, "twice version 1 is registered for mahjong\n");
}

#[test]
fn a_bot_is_added_listed_checked_and_removed() {
    let arena = Arena::new();
    let said = done(&arena.run(&add("champion --bot house:weights?plies=1 --owner ann")));
    assert_eq!(said, "champion version 1 is registered for othello\n");
    done(&arena.run(&add(
        "champion --bot house:weights?plies=1 --version 2 --no-check --game othello",
    )));
    done(&arena.run(&add(
        "anybody --bot house:random --game mahjong --game big-two",
    )));

    let list = events(&done(&arena.run("bots list --format json")));
    let rows: Vec<_> = list
        .iter()
        .map(|bot| {
            let word = |key: &str| bot[key].as_str().unwrap_or("-").to_owned();
            let newest = bot["newest"].as_bool().unwrap();
            (
                word("bot"),
                word("bot_version"),
                word("owner"),
                newest,
                bot["games"].to_string(),
            )
        })
        .collect();
    let row = |name: &str, version: &str, owner: &str, newest, games: &str| {
        (
            name.to_owned(),
            version.to_owned(),
            owner.to_owned(),
            newest,
            games.to_owned(),
        )
    };
    assert_eq!(
        rows,
        [
            row("anybody", "1", "-", true, "[\"mahjong\",\"big-two\"]"),
            row("champion", "1", "ann", false, "[\"othello\"]"),
            row("champion", "2", "-", true, "[\"othello\"]"),
        ]
    );
    let table = done(&arena.run("bots list"));
    fits_eighty_columns(&table);
    assert!(table.contains("mahjong big-two"), "{table}");

    let said = done(&arena.run("bots check"));
    for line in [
        "anybody@1 mahjong: plays",
        "anybody@1 big-two: plays",
        "champion@2 othello: plays",
    ] {
        assert!(said.contains(line), "{said}");
    }
    assert!(!said.contains("champion@1"), "{said}");
    assert!(done(&arena.run("bots check champion@1")).contains("champion@1 othello: plays"));

    done(&arena.run("bots remove champion@2"));
    assert!(done(&arena.run("bots check champion")).contains("champion@1 othello: plays"));
    done(&arena.run("bots remove champion"));
    refused(
        &arena.run("bots remove champion"),
        "no bot \"champion\" is registered",
    );
    refused(
        &arena.run("bots check champion"),
        "`arena bots list` shows those that are",
    );
    assert!(!done(&arena.run("bots list")).contains("champion"));
}

#[test]
fn a_bot_that_does_not_play_is_not_registered() {
    let arena = Arena::new();
    for (line, says) in [
        (
            add("x --bot exec:./not_there --game othello"),
            "could not start ./not_there: No such file",
        ),
        (
            add(&format!("x {} --game connect-four", is_villain("crash"))),
            "`arena check SPEC` says what was expected and how to fix it",
        ),
        (
            add(&format!(
                "x {} --game connect-four",
                is_villain("unsupported")
            )),
            "says that it does not play connect-four",
        ),
        (
            add(&format!("x {}", is_villain("unsupported"))),
            "it plays none of the games",
        ),
    ] {
        let output = arena.run(&line);
        assert_eq!(output.status.code(), Some(1), "{line}: {}", err(&output));
        // Long evidence is broken into lines.
        let said = out(&output).replace("\n    ", " ");
        assert!(
            said.contains("x is not registered: ") && said.contains(says),
            "{line}: {said}"
        );
        fits_eighty_columns(&out(&output));
    }
    for (line, says) in [
        (add("x --bot house:radnom"), "did you mean random?"),
        (
            add("x --bot house:weights?plies=1 --game mahjong"),
            "does not play mahjong",
        ),
        (
            add("x --bot house:random --game chess"),
            "there is no game \"chess\"",
        ),
        (add("'a b' --bot house:random"), "a name is 1 to 40 letters"),
        (add("x@2 --bot house:random"), "a name is 1 to 40 letters"),
        (
            add("x --bot house:random --version a@b --no-check --game othello"),
            "version",
        ),
        (
            add("x --bot house:random --version '' --no-check --game othello"),
            "version",
        ),
        (add("x --bot house:random --no-check"), "--game"),
        (add("x --bot ./x"), "NAME=SPEC"),
    ] {
        refused(&arena.run(&line), says);
    }
    // Nobody is in it.
    let output = arena.run("bots list");
    assert!(!out(&output).contains('x'), "{}", out(&output));

    let twice = add("x --bot house:random --no-check --game othello");
    done(&arena.run(&twice));
    refused(
        &arena.run(&twice),
        "--version gives this one another version",
    );
}

#[test]
fn what_was_fit_and_is_no_longer_fails_its_check() {
    let arena = Arena::new();
    done(&arena.run(&add("x --bot exec:./not_there --no-check --game othello")));
    done(&arena.run(&add("y --bot house:random --no-check --game othello")));
    done(&arena.run(&add(&format!(
        "z {} --no-check --game connect-four",
        is_villain("unsupported")
    ))));
    let output = arena.run("bots check --format json");
    assert_eq!(output.status.code(), Some(1), "{}", err(&output));
    let checks = events(&out(&output));
    assert_eq!(checks[0]["plays"], false);
    assert!(
        checks[0]["foul"]["detail"]
            .as_str()
            .unwrap()
            .contains("could not start ./not_there")
    );
    assert_eq!(checks[1]["plays"], true);
    assert_eq!(checks[2]["plays"], false);
    assert_eq!(checks[2]["foul"]["kind"], "unsupported");
}

#[test]
fn a_tournament_names_registered_bots() {
    let arena = Arena::new();
    for version in ["1", "2"] {
        let line =
            format!("w --bot house:weights?plies=1 --version {version} --owner ann --game othello");
        done(&arena.run(&add(&line)));
    }
    let cup = |game: &str, bots: &[&str]| {
        let mut text = format!("game = \"{game}\"\nshape = \"round-robin\"\ndeals = 1\n");
        for bot in bots {
            text += &format!("[[bots]]\n{bot}\n");
        }
        fs::write(arena.path("cup.toml"), text).unwrap();
        arena.run("tournament run cup.toml --format json")
    };
    let output = cup(
        "othello",
        &[
            "bot = \"w\"",
            "bot = \"w@1\"\nname = \"old\"",
            "bot = \"house:random\"",
        ],
    );
    let told = events(&done(&output));
    let bots = of_type(&told, "standings")[0]["bots"].clone();
    let bots: Vec<_> = bots
        .as_array()
        .unwrap()
        .iter()
        .map(|bot| ["name", "version", "spec"].map(|key| bot[key].as_str().unwrap().to_owned()))
        .collect();
    assert_eq!(bots[0], ["w", "2", "house:weights?plies=1"]);
    assert_eq!(bots[1], ["old", "1", "house:weights?plies=1"]);
    assert_eq!(bots[2], ["random", "1", "house:random"]);

    refused(
        &cup("connect-four", &["bot = \"w\"", "bot = \"house:random\""]),
        "w is registered for othello",
    );
    refused(
        &cup("othello", &["bot = \"w@3\"", "bot = \"house:random\""]),
        "nor a registered bot",
    );
    // What is played stays, whoever leaves the register.
    done(&arena.run("bots remove w"));
    done(&arena.run("tournament verify cup"));
    refused(
        &cup("othello", &["bot = \"w\"", "bot = \"house:random\""]),
        "nor a registered bot",
    );
}
