//! `arena check-referee`: the whole catalogue, and what it looks like.

use std::{
    collections::BTreeSet,
    fs,
    io::{BufRead as _, BufReader},
    thread,
    time::Duration,
};

use referee::{ServeOptions, ServiceAccess};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use villains::Kind;

use crate::vocabulary::*;

/// The whole catalogue against the referee: the verdict on each, from either
/// seat.
#[test]
fn the_referee_answers_every_villain_as_it_should() {
    let arena = Arena::new();
    let text = done(&arena.run("check-referee --format json"));
    let events = events(&text);
    let villains = of_type(&events, "villain");
    let kinds: Vec<&Value> = villains.iter().map(|villain| &villain["kind"]).collect();
    let all: Vec<_> = Kind::all().iter().map(|kind| kind.name()).collect();
    assert_eq!(kinds, all.iter().collect::<Vec<_>>());
    for (kind, villain) in Kind::all().iter().zip(&villains) {
        assert_eq!(villain["holds"], true, "{villain}");
        assert_eq!(villain["does"], json!(kind.does()));
        let seats = villain["seats"].as_array().unwrap();
        assert_eq!(seats.len(), 2);
        for seat in seats {
            let foul = kind
                .foul()
                .map(|foul| json!(foul).as_str().unwrap().replace('_', "-"));
            assert_eq!(seat["foul"]["kind"].as_str(), foul.as_deref(), "{villain}");
            assert_eq!(seat["code"].is_null(), kind.foul().is_none(), "{villain}");
            assert_eq!(seat["reason"].is_null(), kind.foul().is_some(), "{villain}");
        }
    }
    let summary = &of_type(&events, "referee_checked")[0];
    assert_eq!(summary["villains"], all.len());
    assert_eq!(summary["holds"], true);
    for none in ["wrong", "not_tried"] {
        assert_eq!(summary[none], json!([]));
    }
    // It leaves nothing behind.
    assert_eq!(fs::read_dir(arena.path(".")).unwrap().count(), 0);
}

/// A foul that no villain commits would go untried.
#[test]
fn every_foul_that_a_villain_can_commit_has_one() {
    let fouls: BTreeSet<_> = Kind::all().iter().filter_map(|kind| kind.foul()).collect();
    // All fifteen but two: a villain that is not there is none, and what is too often for
    // chance takes longer than a game (`caught/delays.rs`).
    assert_eq!(fouls.len(), 13, "{fouls:?}");
}

#[test]
fn a_villain_has_its_foul_its_codes_and_its_evidence_in_eighty_columns() {
    let arena = Arena::new();
    let text = done(
        &arena.run("check-referee --kind crash --kind honest --kind illegal --kind misdirected"),
    );
    fits_eighty_columns(&text);
    for says in [
        "ok crash                 crashed        crashed                       3, 5\n",
        "crashed: killed by SIGABRT; its last words: crashing in the middle of the\n",
        "ok honest                no foul        no foul                       -\n",
        "     played to its end: ",
        "ok illegal               illegal        illegal                       4, 6\n",
        "ok misdirected           no start       no start                      -1, -2\n",
        "4 villains, each from either seat: answered as expected\n",
    ] {
        assert!(text.contains(says), "{says:?} is not in:\n{text}");
    }
}

/// Once to finish what runs, twice to cut it off.
#[test]
fn it_stops_when_it_is_asked_to_and_leaves_no_process() {
    let arena = Arena::new();
    let mut process = arena.start("check-referee --format json --kind last-minute --kind honest");
    let parent = process.id().to_string();
    let ours = || {
        let mut bots = processes_with("last-minute");
        bots.retain(|id| {
            let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
            let after = stat.rsplit_once(')').map_or("", |(_, after)| after);
            after.split_whitespace().nth(1) == Some(&parent)
        });
        bots
    };
    wait_until("it plays in both seats", || ours().len() == 2);
    let bots = ours();
    interrupt(&process);
    let mut said = BufReader::new(process.stderr.take().unwrap()).lines();
    let heard = said.any(|line| line.is_ok_and(|line| line.contains("once more cuts them off")));
    assert!(heard, "the first was not heard");
    interrupt(&process);
    let output = process.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", err(&output));
    // One that was only just starting is killed, but nobody waits until it is reaped.
    wait_until("nothing is left", || {
        let left = processes_with("last-minute");
        bots.iter().all(|id| !left.contains(id))
    });
    // What was not tried to the end holds for nobody.
    let summary = of_type(&events(&out(&output)), "referee_checked");
    assert_eq!(summary, Vec::<Value>::new());
}

/// `referee serve`, in a thread of the test.
#[test]
fn a_referee_that_runs_somewhere_is_asked_in_the_same_way() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let address = listener.local_addr().unwrap();
    let stop = CancellationToken::new();
    let stopping = stop.clone();
    let serve = ServeOptions {
        threads: 1,
        max_games: 100,
        grace: Duration::from_secs(1),
        access: ServiceAccess::default(),
    };
    let served = thread::spawn(move || runtime.block_on(serve.run(listener, stopping)));

    let arena = Arena::new();
    let check = format!("check-referee --referee {address}");
    let kinds = "--kind honest --kind litter --kind mute --kind unsupported --kind crash \
                 --kind hang-up --kind flood --kind illegal --kind late";
    let text = done(&arena.run(&format!("{check} --format json {kinds}")));
    let events = events(&text);
    let villains = of_type(&events, "villain");
    assert_eq!(villains.len(), 9, "{text}");
    for villain in villains {
        assert_eq!(villain["holds"], true, "{villain}");
    }
    refused(
        &arena.run(&format!("{check} --kind silent")),
        "--kind silent: only the program that starts a bot can see this",
    );
    stop.cancel();
    served.join().unwrap().unwrap();
    refused(&arena.run(&check), "nothing answers at tcp:127.0.0.1:");
    refused(
        &arena.run("check-referee --referee nowhere"),
        "expected HOST:PORT",
    );
}

/// One that is stopped by a signal, or is no referee at all.
#[test]
fn a_referee_that_says_nothing_is_not_waited_for_for_ever() {
    // Connections are taken by the system; nobody reads what comes.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let arena = Arena::new();
    let output = arena.run(&format!(
        "check-referee --referee {address} --kind honest --format json"
    ));
    assert_eq!(output.status.code(), Some(3), "{}", err(&output));
    let why = err(&output);
    assert!(why.contains("the referee did not answer within"), "{why}");
}

#[test]
fn what_is_no_villain_is_refused() {
    let arena = Arena::new();
    refused(
        &arena.run("check-referee --kind crush"),
        "a similar value exists: 'crash'",
    );
}
