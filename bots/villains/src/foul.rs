//! The fouls of each kind, and their times.

use std::{
    any::Any,
    env,
    fs::{self, File},
    io::{self, Write as _},
    os::unix::net::UnixListener,
    path::Path,
    process::{Child, Command, Stdio},
    sync::Arc,
    time::Duration,
};

use arena_proto::games::connect_four::v1::{
    ConnectFourAnswer, ConnectFourCall, GetPoint, Point, connect_four_answer::Answer,
    connect_four_call::Call,
};
use bytes::Bytes;
use nix::{
    sys::{
        memfd::{MFdFlags, memfd_create},
        signal::{SigSet, Signal, kill},
    },
    unistd::getppid,
};
use prost::Message as _;
use tokio::sync::mpsc;
use tonic::{Status, Streaming};

use crate::{
    AfterChild, FAILED, Villain,
    game::{self, Chance},
    games::{RunningGame, RunningGames},
    kind::Kind,
    stream::Put,
};

pub(crate) const HOUR: Duration = Duration::from_secs(3600);
/// The largest answer that is allowed.
const LARGEST: usize = 64 * 1024;
/// Number of answers of a flood that go out at a time.
const FLOOD: usize = 64;
/// From how many games on `overcommitted` fails.
const TOO_MANY: usize = 3;
/// The tag of field 15 of an answer, which does not exist.
const PADDING: u8 = 15 << 3 | 2;

/// Fills the folder of its socket.
fn clutter(listen: &str, count: u32) -> io::Result<()> {
    let path = listen.strip_prefix("unix:").map(Path::new);
    let Some(folder) = path.and_then(Path::parent).filter(|_| count > 0) else {
        return Ok(());
    };
    for number in 0..count {
        File::create(folder.join(number.to_string()))?;
    }
    let home = env::current_dir()?;
    env::set_current_dir(folder)?;
    for _ in 0..count / 50 {
        fs::create_dir("deeper")?;
        // Not by its path, which would be too long.
        env::set_current_dir("deeper")?;
    }
    env::set_current_dir(home)
}

/// The part that is done before it listens; with an exit code, it never does.
pub(crate) fn before_listening(villain: &Villain) -> Option<u8> {
    let listen = env::var("BOT_LISTEN").unwrap_or_default();
    if let Err(error) = clutter(&listen, villain.clutter) {
        eprintln!("could not leave so many files: {error}");
        return Some(FAILED);
    }
    let done = match villain.kind {
        Kind::ExitAtOnce => {
            eprintln!("no strategy found");
            return Some(3);
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
            UnixListener::bind(path).map(|_socket| {
                say(&format!("listening on unix:{path}"));
                hang()
            })
        }
        Kind::SlowStart => {
            std::thread::sleep(villain.delay());
            Ok(())
        }
        // Every thread that is started from here on has it blocked too.
        Kind::IgnoresSigterm => {
            let blocked = SigSet::from(Signal::SIGTERM).thread_block();
            blocked.map_err(io::Error::from)
        }
        Kind::Litter => litter(villain),
        Kind::Memory if villain.at_once => {
            let _taken = take_memory(villain.megabytes, villain.shared);
            hang()
        }
        _ => Ok(()),
    };
    done.err().map(|error| {
        eprintln!("could not misbehave as it should: {error}");
        FAILED
    })
}

/// One seat in one game.
pub(crate) async fn play(
    villain: &Villain,
    games: &Arc<RunningGames>,
    mut calls: Streaming<Bytes>,
    answers: mpsc::Sender<Put>,
) {
    let mut seat = SeatedVillain {
        villain,
        games,
        answers,
        chance: Chance::new(0),
        points: 0,
        running: None,
    };
    // A stream that is cancelled fails, which ends the game as well.
    while let Ok(call) = calls.message().await {
        let Some(call) = call else {
            if villain.kind == Kind::NeverCloses {
                seat.answers.closed().await;
            }
            return;
        };
        if !seat.hear(call).await {
            return;
        }
    }
}

/// A villain in one game. What answers a call gives false where nothing is to follow.
struct SeatedVillain<'a> {
    villain: &'a Villain,
    games: &'a Arc<RunningGames>,
    answers: mpsc::Sender<Put>,
    chance: Chance,
    /// Number of points that it has been asked for.
    points: u32,
    running: Option<RunningGame>,
}

struct PointRequest {
    number: u32,
    ask: GetPoint,
    limit: Option<Duration>,
    /// True if no point has been asked for before.
    first: bool,
    /// True if the time for a foul has come.
    due: bool,
}

impl SeatedVillain<'_> {
    async fn hear(&mut self, bytes: Bytes) -> bool {
        let size = bytes.len();
        let Ok(call) = ConnectFourCall::decode(bytes) else {
            return self
                .end(Status::invalid_argument("a call that can't be read"))
                .await;
        };
        let kind = self.villain.kind;
        // What it does not know, it would not write again.
        if kind == Kind::ChokesOnNewFields && call.encoded_len() != size {
            let status = Status::invalid_argument("a call with something that I don't know");
            return self.end(status).await;
        }
        let number = call.number.unwrap_or_default();
        let past = call.past_answer.is_some() && kind != Kind::CannotResume;
        match call.call {
            Some(Call::Start(start)) => {
                self.chance = Chance::new(start.bot_seed);
                if !self.has_room().await {
                    return self
                        .end(Status::resource_exhausted("I have enough games"))
                        .await;
                }
                self.running = Some(self.games.begin(kind == Kind::Clings));
                if kind == Kind::Leaks {
                    self.games.keep(self.villain.kilobytes << 10);
                }
                past || self.at_start(number).await
            }
            Some(Call::GetPoint(ask)) => {
                let asked = PointRequest {
                    number,
                    limit: call.limit.and_then(|limit| limit.try_into().ok()),
                    first: self.points == 0,
                    due: self.points >= self.villain.after,
                    ask,
                };
                self.points += 1;
                if asked.first && self.games.was_asked() && kind == Kind::Stale {
                    return self.put(&beyond(&asked)).await;
                }
                if past {
                    // It draws the same number as when it answered.
                    let _ = self.chance.point(&asked.ask);
                    return true;
                }
                if self.is_one_too_many() {
                    let status = Status::internal("I can't play so many games at once");
                    return self.end(status).await;
                }
                self.asked(&asked).await
            }
            Some(Call::Over(_)) => self.over().await,
            _ => true,
        }
    }

    /// True if another game may begin, for the kinds that count them.
    async fn has_room(&self) -> bool {
        let most = self.villain.max_games() as usize;
        match self.villain.kind {
            Kind::Clings => self.games.running() < most,
            Kind::NeverCloses => self.games.has_room(most).await,
            _ => true,
        }
    }

    /// True if this is the newest of more games than it can play.
    fn is_one_too_many(&self) -> bool {
        let newest = self.running.as_ref().is_some_and(RunningGame::is_newest);
        self.villain.kind == Kind::Overcommitted && self.games.running() >= TOO_MANY && newest
    }

    async fn at_start(&self, number: u32) -> bool {
        let answer = match self.villain.kind {
            Kind::CrashAtStart => crash("crashing at the start"),
            Kind::HangUpAtStart => return false,
            Kind::NeverReady => {
                an_hour(&self.answers).await;
                return false;
            }
            Kind::NotReady => Answer::Point(game::point(0, 0)),
            Kind::Slow => {
                tokio::time::sleep(self.villain.delay()).await;
                game::ready(self.villain)
            }
            _ => game::ready(self.villain),
        };
        self.put(&game::answer(Some(number), answer)).await
    }

    async fn over(&self) -> bool {
        match self.villain.kind {
            Kind::ExitWhenOver => {
                eprintln!("one game is enough");
                std::process::exit(3);
            }
            Kind::ErrorWhenOver => return self.end(Status::internal("I am a bad loser")).await,
            // It takes a slot until the stream has ended.
            Kind::NeverCloses => {}
            _ => {
                if let Some(running) = &self.running {
                    running.over();
                }
            }
        }
        true
    }

    /// Answers a question for a point: first the behaviour that is no foul, or does not wait for
    /// its time; then the foul, if it is due.
    async fn asked(&mut self, asked: &PointRequest) -> bool {
        let (villain, ask) = (self.villain, &asked.ask);
        let point = match villain.kind {
            Kind::Full => match game::full_column(ask).filter(|_| asked.due) {
                Some(column) => game::point(0, column),
                None => game::leftmost(ask),
            },
            _ => self.chance.point(ask),
        };
        if asked.first {
            villain.escapes.try_all();
        }
        match villain.kind {
            Kind::Slow | Kind::Clockless => tokio::time::sleep(villain.delay()).await,
            Kind::LastMinute => {
                tokio::time::sleep(asked.limit.unwrap_or_default() * 9 / 10).await;
            }
            Kind::ThinksOn => {
                tokio::select! {
                    () = tokio::time::sleep(villain.delay()) => {}
                    () = self.answers.closed() => {
                        self.games.think_on();
                        return false;
                    }
                }
            }
            Kind::FailsOnTallBoards if asked.first && ask.m > ask.n => {
                return self.put(&beyond(asked)).await;
            }
            Kind::Chatty => {
                let line = ".".repeat(1023);
                (0..100).for_each(|_| println!("{line}"));
            }
            _ => {}
        }
        if let (Some(limit), Some(time)) = (asked.limit, villain.stops) {
            stop_parent(limit, time).await;
        }
        let by_the_rules = game::answer(Some(asked.number), Answer::Point(point));
        let sent = match villain.kind {
            Kind::Bulky => Put::messages(&[&padded(&by_the_rules, LARGEST)]),
            _ if asked.due => return self.foul(asked, point, &by_the_rules).await,
            _ => message(&by_the_rules),
        };
        self.answers.send(sent).await.is_ok()
    }

    async fn foul(
        &self,
        asked: &PointRequest,
        point: Point,
        by_the_rules: &ConnectFourAnswer,
    ) -> bool {
        let number = asked.number;
        let (x, y) = (point.x.unwrap_or_default(), point.y);
        let elsewhere = |x: i32, y: Option<i32>| {
            message(&game::answer(
                Some(number),
                Answer::Point(Point { x: Some(x), y }),
            ))
        };
        let numbered = |number| message(&game::answer(number, Answer::Point(point)));
        let sent = match self.villain.kind {
            Kind::Crash => crash(self.villain.words("crashing in the middle of the game")),
            Kind::Exit => {
                eprintln!("leaving at question {number}");
                std::process::exit(3)
            }
            Kind::HangUp => return false,
            Kind::ErrorStatus => {
                let words = self.villain.words("no more ideas");
                Put::End(Status::failed_precondition(words))
            }
            Kind::NoStatus => Put::Stop,
            Kind::Reset => Put::Reset,
            Kind::Malformed => Put::messages(&[b"\xff\xff\xff"]),
            Kind::Unframed => Put::Raw(Bytes::from_static(b"\x07 is my lucky column")),
            Kind::Empty => message(&ConnectFourAnswer {
                number: Some(number),
                answer: None,
            }),
            Kind::Incomplete => elsewhere(x, None),
            Kind::ReadyAgain => message(&game::answer(Some(number), game::ready(self.villain))),
            Kind::NoNumber => numbered(None),
            Kind::WrongNumber => numbered(Some(number + 1)),
            Kind::PastNumber => numbered(Some(number - 1)),
            Kind::Unsolicited => {
                let answer = by_the_rules.encode_to_vec();
                Put::messages(&[&answer, &answer])
            }
            Kind::Flood => {
                let answer = by_the_rules.encode_to_vec();
                let many = [&answer[..]; FLOOD];
                while self.answers.send(Put::messages(&many)).await.is_ok() {}
                return false;
            }
            Kind::Oversized => Put::messages(&[&padded(by_the_rules, LARGEST + 1)]),
            Kind::Memory if let Some(then) = self.villain.by_child => {
                let died = hoard(self.villain).and_then(|mut child| child.wait());
                if then == AfterChild::Says {
                    let died = format!("the process that it needs has ended: {died:?}");
                    return self.end(Status::internal(died)).await;
                }
                an_hour(&self.answers).await;
                message(by_the_rules)
            }
            Kind::Memory => {
                let megabytes = self.villain.megabytes;
                let taken = take_memory(megabytes, self.villain.shared);
                an_hour(&self.answers).await;
                drop(taken);
                message(by_the_rules)
            }
            Kind::Illegal => elsewhere(0, Some(asked.ask.n)),
            Kind::Floating => elsewhere(x - 1, y),
            Kind::Occupied => elsewhere(x + 1, y),
            Kind::Late => {
                an_hour(&self.answers).await;
                message(by_the_rules)
            }
            Kind::BusyLate => loop {
                std::hint::spin_loop();
            },
            _ => message(by_the_rules),
        };
        self.answers.send(sent).await.is_ok()
    }

    async fn put(&self, answer: &ConnectFourAnswer) -> bool {
        self.answers.send(message(answer)).await.is_ok()
    }

    /// Ends the stream with this status.
    async fn end(&self, status: Status) -> bool {
        let _ = self.answers.send(Put::End(status)).await;
        false
    }
}

/// Stops the process that started this one for so long, from a moment before the limit on, and
/// waits until the limit is over by half of that.
async fn stop_parent(limit: Duration, time: Duration) {
    const BEFORE: Duration = Duration::from_millis(20);
    let parent = getppid();
    let begins = limit.saturating_sub(BEFORE);
    std::thread::spawn(move || {
        std::thread::sleep(begins);
        let _ = kill(parent, Signal::SIGSTOP);
        std::thread::sleep(time);
        let _ = kill(parent, Signal::SIGCONT);
    });
    tokio::time::sleep(begins + time / 2).await;
}

/// A point off the board.
fn beyond(asked: &PointRequest) -> ConnectFourAnswer {
    game::answer(
        Some(asked.number),
        Answer::Point(game::point(asked.ask.m, 0)),
    )
}

fn message(answer: &ConnectFourAnswer) -> Put {
    Put::messages(&[&answer.encode_to_vec()])
}

/// An answer with an unknown field behind it, of this size.
fn padded(answer: &ConnectFourAnswer, size: usize) -> Vec<u8> {
    let mut bytes = answer.encode_to_vec();
    bytes.push(PADDING);
    // The length takes three bytes from 16 KiB to 2 MiB.
    let length = size - bytes.len() - 3;
    prost::encoding::encode_varint(length as u64, &mut bytes);
    bytes.resize(size, 0);
    bytes
}

/// Waits for an hour, or until the stream is cancelled.
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

/// Starts this program again as a villain that never ends.
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

/// Starts a villain of its own that takes the memory.
fn hoard(villain: &Villain) -> io::Result<Child> {
    let mut command = Command::new(env::current_exe()?);
    command.args(villain.verb).args(["memory", "--at-once"]);
    command.args(["--megabytes", &villain.megabytes.to_string()]);
    if villain.shared {
        command.arg("--shared");
    }
    command.stdin(Stdio::null()).spawn()
}

/// Memory that is in use as long as this is kept.
fn take_memory(megabytes: usize, shared: bool) -> Vec<Box<dyn Any + Send>> {
    const MEGABYTE: usize = 1 << 20;
    let take = |_| -> Box<dyn Any + Send> {
        let full = vec![1_u8; MEGABYTE];
        if !shared {
            return Box::new(full);
        }
        let memory = memfd_create(c"hoard", MFdFlags::empty()).map(File::from);
        match memory.map(|mut file| file.write_all(&full).map(|()| file)) {
            Ok(Ok(file)) => Box::new(file),
            failed => {
                eprintln!("no more memory to share: {failed:?}");
                Box::new(())
            }
        }
    };
    (0..megabytes).map(take).collect()
}
