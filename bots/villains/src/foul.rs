//! What each kind does, and when.

use std::{
    env,
    io::{self, Write as _},
    os::unix::net::UnixListener,
    process::{Command, Stdio},
    sync::Arc,
    time::Duration,
};

use arena_proto::games::connect_four::v1::{
    ConnectFourAnswer, ConnectFourCall, GetPoint, Point, connect_four_answer::Answer,
    connect_four_call::Call,
};
use bytes::Bytes;
use nix::sys::signal::{SigSet, Signal};
use prost::Message as _;
use tokio::sync::mpsc;
use tonic::{Status, Streaming};

use crate::{
    FAILED, Villain,
    game::{self, Chance},
    games::{RunningGame, RunningGames},
    kind::Kind,
    stream::Put,
};

pub(crate) const HOUR: Duration = Duration::from_secs(3600);
/// The largest answer that is allowed.
const LARGEST: usize = 64 * 1024;
/// How many answers of a flood go out at a time.
const FLOOD: usize = 64;
/// How many games are more than a villain can play that says otherwise.
const TOO_MANY: usize = 3;
/// Field 15 of an answer, which nobody knows, as bytes.
const PADDING: u8 = 15 << 3 | 2;

/// What is done before it listens; with a code, it does not come so far.
pub(crate) fn before_listening(villain: &Villain) -> Option<u8> {
    let listen = env::var("BOT_LISTEN").unwrap_or_default();
    match villain.kind {
        Kind::ExitAtOnce => {
            eprintln!("no strategy found");
            Some(3)
        }
        Kind::Silent => hang(),
        Kind::Deaf => {
            say(&format!("listening on {listen}"));
            hang()
        }
        Kind::Misdirected => {
            say("listening on the telephone");
            hang()
        }
        Kind::Mute => {
            // The system takes connections as long as the socket is there.
            let path = listen.strip_prefix("unix:").unwrap_or(&listen);
            match UnixListener::bind(path) {
                Ok(_socket) => {
                    say(&format!("listening on unix:{path}"));
                    hang()
                }
                Err(error) => {
                    eprintln!("could not listen on {listen}: {error}");
                    Some(FAILED)
                }
            }
        }
        Kind::SlowStart => {
            std::thread::sleep(villain.delay());
            None
        }
        Kind::IgnoresSigterm => {
            // Every thread that is started from here on has it blocked too.
            let blocked = SigSet::from(Signal::SIGTERM).thread_block();
            if let Err(error) = blocked {
                eprintln!("could not block SIGTERM: {error}");
                return Some(FAILED);
            }
            None
        }
        Kind::Litter => {
            if let Err(error) = litter(villain) {
                eprintln!("could not start a process: {error}");
                return Some(FAILED);
            }
            None
        }
        _ => None,
    }
}

/// One seat in one game.
pub(crate) async fn play(
    villain: &Villain,
    games: &Arc<RunningGames>,
    mut calls: Streaming<Bytes>,
    answers: mpsc::Sender<Put>,
) {
    let mut chance = Chance::new(0);
    let mut points = 0;
    let mut running: Option<RunningGame> = None;
    // A stream that is cancelled fails, which ends the game as well.
    while let Ok(call) = calls.message().await {
        let Some(call) = call else {
            if villain.kind == Kind::NeverCloses {
                answers.closed().await;
            }
            return;
        };
        let size = call.len();
        let Ok(call) = ConnectFourCall::decode(call) else {
            let status = Status::invalid_argument("a call that can't be read");
            let _ = answers.send(Put::End(status)).await;
            return;
        };
        // What it does not know, it would not write again.
        if villain.kind == Kind::ChokesOnNewFields && call.encoded_len() != size {
            let status = Status::invalid_argument("a call with something that I don't know");
            let _ = answers.send(Put::End(status)).await;
            return;
        }
        let number = call.number.unwrap_or_default();
        let past = call.past_answer.is_some() && villain.kind != Kind::CannotResume;
        let going_on = match call.call {
            Some(Call::Start(start)) => {
                chance = Chance::new(start.bot_seed);
                if villain.kind == Kind::Clings && games.running() >= villain.max_games() as usize {
                    let status = Status::resource_exhausted("I have enough games");
                    let _ = answers.send(Put::End(status)).await;
                    return;
                }
                if villain.kind == Kind::NeverCloses
                    && !games.has_room(villain.max_games() as usize).await
                {
                    let status = Status::resource_exhausted("I have enough games");
                    let _ = answers.send(Put::End(status)).await;
                    return;
                }
                running = Some(games.begin(villain.kind == Kind::Clings));
                if villain.kind == Kind::Leaks {
                    games.keep(villain.kilobytes << 10);
                }
                past || at_start(villain, number, &answers).await
            }
            Some(Call::GetPoint(ask)) => {
                let asked = PointRequest {
                    number,
                    limit: call.limit.and_then(|limit| limit.try_into().ok()),
                    first: points == 0,
                    due: points >= villain.after,
                    ask,
                };
                points += 1;
                if asked.first && games.was_asked() && villain.kind == Kind::Stale {
                    let beyond = game::point(asked.ask.m, 0);
                    let answer = game::answer(Some(number), Answer::Point(beyond));
                    if put(&answers, &answer).await {
                        continue;
                    }
                    return;
                }
                if past {
                    // So as to go on as it would have gone on.
                    let _ = chance.point(&asked.ask);
                    continue;
                }
                if is_one_too_many(villain, games, running.as_ref()) {
                    let status = Status::internal("I can't play so many games at once");
                    let _ = answers.send(Put::End(status)).await;
                    return;
                }
                in_game(villain, &asked, &mut chance, games, &answers).await
            }
            Some(Call::Over(_)) => {
                if villain.kind == Kind::ExitWhenOver {
                    eprintln!("one game is enough");
                    std::process::exit(3);
                }
                if villain.kind == Kind::ErrorWhenOver {
                    let status = Status::internal("I am a bad loser");
                    let _ = answers.send(Put::End(status)).await;
                    return;
                }
                // Who waits for the stream's end has a place taken until then.
                if let Some(running) = &running
                    && villain.kind != Kind::NeverCloses
                {
                    running.over();
                }
                true
            }
            _ => true,
        };
        if !going_on {
            return;
        }
    }
}

/// Whether this is the newest of more games than it can play.
fn is_one_too_many(villain: &Villain, games: &RunningGames, running: Option<&RunningGame>) -> bool {
    villain.kind == Kind::Overcommitted
        && games.running() >= TOO_MANY
        && running.is_some_and(RunningGame::is_newest)
}

struct PointRequest {
    number: u32,
    ask: GetPoint,
    limit: Option<Duration>,
    /// Whether no point has been asked for before.
    first: bool,
    /// Whether the time for a foul has come.
    due: bool,
}

/// Answers GameStart; false where nothing is to follow.
async fn at_start(villain: &Villain, number: u32, answers: &mpsc::Sender<Put>) -> bool {
    let answer = match villain.kind {
        Kind::CrashAtStart => crash("crashing at the start"),
        Kind::HangUpAtStart => return false,
        Kind::NeverReady => {
            an_hour(answers).await;
            return false;
        }
        Kind::NotReady => Answer::Point(game::point(0, 0)),
        Kind::Slow => {
            tokio::time::sleep(villain.delay()).await;
            game::ready(villain)
        }
        _ => game::ready(villain),
    };
    put(answers, &game::answer(Some(number), answer)).await
}

/// Answers GetPoint; false where nothing is to follow.
async fn in_game(
    villain: &Villain,
    asked: &PointRequest,
    chance: &mut Chance,
    games: &RunningGames,
    answers: &mpsc::Sender<Put>,
) -> bool {
    let PointRequest {
        number,
        ask,
        limit,
        first,
        due,
    } = asked;
    let number = *number;
    let point = match villain.kind {
        Kind::Full => game::leftmost(ask),
        _ => chance.point(ask),
    };
    let by_the_rules = game::answer(Some(number), Answer::Point(point));
    // What is no foul, and what does not wait for its time.
    match villain.kind {
        Kind::Slow | Kind::Clockless => tokio::time::sleep(villain.delay()).await,
        Kind::LastMinute => tokio::time::sleep(limit.unwrap_or_default() * 9 / 10).await,
        Kind::ThinksOn => {
            tokio::select! {
                () = tokio::time::sleep(villain.delay()) => {}
                () = answers.closed() => {
                    games.think_on();
                    return false;
                }
            }
        }
        Kind::FailsOnTallBoards if *first && ask.m > ask.n => {
            let beyond = game::point(ask.m, 0);
            return put(answers, &game::answer(Some(number), Answer::Point(beyond))).await;
        }
        Kind::Chatty => {
            let line = ".".repeat(1023);
            (0..100).for_each(|_| println!("{line}"));
        }
        Kind::Bulky => {
            let bulky = Put::messages(&[&padded(&by_the_rules, LARGEST)]);
            return answers.send(bulky).await.is_ok();
        }
        Kind::Full => {
            let again = game::full_column(ask).map(|column| game::point(0, column));
            let point = again.filter(|_| *due).unwrap_or(point);
            return put(answers, &game::answer(Some(number), Answer::Point(point))).await;
        }
        _ => {}
    }
    if !due {
        return put(answers, &by_the_rules).await;
    }
    let (x, y) = (point.x.unwrap_or_default(), point.y);
    let elsewhere =
        |x: i32, y: Option<i32>| game::answer(Some(number), Answer::Point(Point { x: Some(x), y }));
    let numbered = |number: Option<u32>| ConnectFourAnswer {
        number,
        answer: Some(Answer::Point(point)),
    };
    let sent = match villain.kind {
        Kind::Crash => crash("crashing in the middle of the game"),
        Kind::Exit => {
            eprintln!("leaving at question {number}");
            std::process::exit(3)
        }
        Kind::HangUp => return false,
        Kind::ErrorStatus => Put::End(Status::failed_precondition("no more ideas")),
        Kind::NoStatus => Put::Stop,
        Kind::Reset => Put::Reset,
        Kind::Malformed => Put::messages(&[b"\xff\xff\xff"]),
        Kind::Unframed => Put::Raw(Bytes::from_static(b"\x07 is my lucky column")),
        Kind::Empty => message(&ConnectFourAnswer {
            number: Some(number),
            answer: None,
        }),
        Kind::Incomplete => message(&elsewhere(x, None)),
        Kind::ReadyAgain => message(&game::answer(Some(number), game::ready(villain))),
        Kind::NoNumber => message(&numbered(None)),
        Kind::WrongNumber => message(&numbered(Some(number + 1))),
        Kind::PastNumber => message(&numbered(Some(number - 1))),
        Kind::Unsolicited => {
            let answer = by_the_rules.encode_to_vec();
            Put::messages(&[&answer, &answer])
        }
        Kind::Flood => {
            let answer = by_the_rules.encode_to_vec();
            let many = [&answer[..]; FLOOD];
            while answers.send(Put::messages(&many)).await.is_ok() {}
            return false;
        }
        Kind::Oversized => Put::messages(&[&padded(&by_the_rules, LARGEST + 1)]),
        Kind::Memory => {
            let hoard: Vec<Vec<u8>> = (0..villain.megabytes).map(|_| vec![1; 1 << 20]).collect();
            an_hour(answers).await;
            drop(hoard);
            message(&by_the_rules)
        }
        Kind::Illegal => message(&elsewhere(0, Some(ask.n))),
        Kind::Floating => message(&elsewhere(x - 1, y)),
        Kind::Occupied => message(&elsewhere(x + 1, y)),
        Kind::Late => {
            an_hour(answers).await;
            message(&by_the_rules)
        }
        Kind::BusyLate => loop {
            std::hint::spin_loop();
        },
        _ => message(&by_the_rules),
    };
    answers.send(sent).await.is_ok()
}

fn message(answer: &ConnectFourAnswer) -> Put {
    Put::messages(&[&answer.encode_to_vec()])
}

async fn put(answers: &mpsc::Sender<Put>, answer: &ConnectFourAnswer) -> bool {
    answers.send(message(answer)).await.is_ok()
}

/// An answer with a field behind it that nobody knows, as large as said.
fn padded(answer: &ConnectFourAnswer, size: usize) -> Vec<u8> {
    let mut bytes = answer.encode_to_vec();
    bytes.push(PADDING);
    // The length takes three bytes from 16 KiB to 2 MiB.
    let length = size - bytes.len() - 3;
    prost::encoding::encode_varint(length as u64, &mut bytes);
    bytes.resize(size, 0);
    bytes
}

/// Waits for an hour, or until nobody waits any more.
async fn an_hour(answers: &mpsc::Sender<Put>) {
    tokio::select! {
        () = tokio::time::sleep(HOUR) => {}
        () = answers.closed() => {}
    }
}

pub(crate) fn crash(words: &str) -> ! {
    eprintln!("{words}");
    std::process::abort()
}

fn hang() -> ! {
    loop {
        std::thread::park();
    }
}

fn say(line: &str) {
    println!("{line}");
    let _ = io::stdout().flush();
}

/// Starts itself as a villain that stays for ever.
fn litter(villain: &Villain) -> io::Result<()> {
    Command::new(env::current_exe()?)
        .args(villain.verb)
        .args(["silent", "--name", &villain.name])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    Ok(())
}
