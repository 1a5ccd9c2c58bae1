//! `arena selftest`: even where it is even, and found out where it is not.

use crate::vocabulary::*;

#[test]
fn a_bot_against_itself_comes_out_even_in_every_game() {
    let arena = Arena::new();
    let text = done(&arena.run("selftest --deals 3"));
    fits_eighty_columns(&text);
    for (game, games) in [
        ("connect-four", 6),
        ("othello", 6),
        ("mahjong", 6),
        ("big-two", 12),
    ] {
        let line = format!("{game}: 3 deals, {games} games: even in every deal");
        assert!(text.contains(&line), "{text}");
    }
    for check in [
        "cores: ",
        "sockets: can be",
        "supervisor: kills",
        "sandbox: ",
        "clock: ",
    ] {
        assert!(text.contains(check), "{text}");
    }
    // It leaves nothing behind.
    assert_eq!(std::fs::read_dir(arena.path(".")).unwrap().count(), 0);
}

/// A bot that plays with another strength in every process.
#[test]
fn a_bot_that_is_not_itself_comes_out_uneven() {
    let arena = Arena::new();
    let program = env!("CARGO_BIN_EXE_arena");
    let chance = "$(($(od -An -N1 -tu1 /dev/urandom) + 1))";
    let script = format!("exec '{program}' bot \"uct?playouts={chance}\"");
    let script = shlex::try_quote(&script).unwrap();
    let spec = format!("exec:sh -c {script}");
    let spec = shlex::try_quote(&spec).unwrap();
    let output = arena.run(&format!("selftest connect-four --format json --bot {spec}"));
    assert_eq!(output.status.code(), Some(1), "{}", err(&output));
    let checks = of_type(&events(&out(&output)), "selftest");
    let (games, others): (Vec<_>, Vec<_>) = checks
        .iter()
        .partition(|check| check["game"] == "connect-four");
    assert!(
        others.iter().all(|check| check["holds"] == true),
        "{checks:?}"
    );
    assert_eq!(games.len(), 1, "{checks:?}");
    assert_eq!(games[0]["holds"], false);
    let found = games[0]["error"].as_str().unwrap();
    assert!(found.starts_with("uneven in deal "), "{found}");
}

/// Two that both fail come out even, and show nothing.
#[test]
fn a_bot_that_does_wrong_proves_nothing() {
    let arena = Arena::new();
    let output = arena.run("selftest connect-four --bot exec:false --deals 1");
    assert_eq!(output.status.code(), Some(1), "{}", err(&output));
    let text = out(&output);
    assert!(
        text.contains("connect-four: NO: match-0000-deal-0000-game-"),
        "{text}"
    );
    assert!(text.contains("seat 0: did not start: "), "{text}");
}

#[test]
fn what_can_not_play_against_itself_is_refused() {
    let arena = Arena::new();
    for (line, says) in [
        ("chess", "there is no game \"chess\""),
        (
            "--bot grpc://localhost:1",
            "expected a bot that the arena starts",
        ),
        ("othello --bot house:uct", "does not play othello"),
    ] {
        refused(&arena.run(&format!("selftest {line}")), says);
    }
}
