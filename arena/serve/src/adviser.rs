//! Hints and evaluations for people who look at the page: each is answered by a process of its own
//! (`arena advise`), whose priority is the lowest, and whose memory and time are bounded. It shares
//! no memory with games, and nothing of it is left.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    path::Path,
    process::{Child, ChildStdin, Command, Stdio},
    sync::{Arc, mpsc},
    time::Duration,
};

use anyhow::Context as _;
use arena_web::{Advice, AdviceRequest, Adviser, NoAdvice, advise};
use nix::sys::resource::{Resource, setrlimit};
use referee_cli::End;

use crate::page::{analyst, hinter};

/// Longest life of a process. Where games take every core it has little of them.
const LONGEST: Duration = Duration::from_secs(5 * 60);
/// Core time that a process may use, in seconds.
const CORE_SECONDS: u64 = 120;
/// Memory that a process may use, in bytes, with what the allocator has reserved at the start,
/// which is 1 GiB.
const MEMORY: u64 = 1536 << 20;
/// The longest answer, in bytes: that of a whole game is a hundredth of it.
const ANSWER: u64 = 8 << 20;
/// The lowest priority that there is.
const NICE: i32 = 19;

/// The adviser that answers each request in a process.
///
/// # Errors
///
/// The path of this program is not known.
pub(crate) fn in_processes() -> anyhow::Result<Adviser> {
    let program = std::env::current_exe().context("could not find this program")?;
    Ok(Arc::new(move |request| ask(&program, request)))
}

/// A process that answers one request; it is killed when this is dropped.
struct Process {
    child: Child,
    /// It ends when this is closed.
    _stdin: ChildStdin,
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn ask(program: &Path, request: &AdviceRequest) -> Result<Advice, NoAdvice> {
    let failed = |error: std::io::Error| {
        tracing::error!(%error, "nobody can be asked for a hint or an evaluation");
        NoAdvice::Failed("it could not be asked".to_owned())
    };
    let mut child = Command::new(program)
        .arg("advise")
        // It needs none of our settings, and no secret of ours.
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(failed)?;
    let mut stdin = child.stdin.take().expect("it is piped");
    let stdout = child.stdout.take().expect("it is piped");
    let line = serde_json::to_string(request).map_err(|error| failed(error.into()))?;
    // Its answer is short where it reads nothing, so neither waits for the other.
    let written = writeln!(stdin, "{line}");
    let process = Process {
        child,
        _stdin: stdin,
    };
    written.map_err(failed)?;
    let (said, answer) = mpsc::channel();
    // It ends with the process.
    std::thread::spawn(move || {
        let mut text = String::new();
        let read = stdout.take(ANSWER).read_to_string(&mut text);
        let _ = said.send(read.map(|_| text));
    });
    let answer = answer.recv_timeout(LONGEST);
    drop(process);
    let answer = match answer {
        Ok(answer) => answer.map_err(failed)?,
        Err(_) => return Err(NoAdvice::Failed(format!("it took more than {LONGEST:?}"))),
    };
    serde_json::from_str(&answer).unwrap_or_else(|_| {
        let told = "it ended without an answer; it may have used up its time or its memory";
        Err(NoAdvice::Failed(told.to_owned()))
    })
}

/// Answers the request that stands in the first line of the standard input.
///
/// # Errors
///
/// It can't be read, or the limits of this process can't be set.
pub(crate) fn answer() -> anyhow::Result<End> {
    // A group of its own where the kernel shares cores between groups, and the least of them.
    let _ = nix::unistd::setsid();
    #[expect(clippy::disallowed_methods, reason = "it is the kernel's")]
    let _ = std::fs::write("/proc/self/autogroup", NICE.to_string());
    rustix::process::setpriority_process(None, NICE)?;
    setrlimit(Resource::RLIMIT_DATA, MEMORY, MEMORY)?;
    setrlimit(Resource::RLIMIT_CPU, CORE_SECONDS, CORE_SECONDS)?;
    nix::sys::prctl::set_dumpable(false)?;
    let mut stdin = BufReader::new(std::io::stdin());
    let mut line = String::new();
    stdin.read_line(&mut line)?;
    let request: AdviceRequest = serde_json::from_str(&line).context("expected a request")?;
    std::thread::spawn(move || {
        // Whoever asked keeps it open as long as they want the answer.
        let _ = std::io::copy(&mut stdin, &mut std::io::sink());
        std::process::exit(0);
    });
    let advice = advise(&request, &hinter(), &analyst());
    println!("{}", serde_json::to_string(&advice)?);
    Ok(End::Done)
}

#[cfg(test)]
mod tests {
    use referee_core::{Dice, Limits, PerSeat, Record, Root, Seat};
    use referee_games::{Fixture, Sitting, game};

    use super::*;

    /// A game of random moves.
    fn played(name: &str) -> Record {
        let root: Root = "explained".parse().unwrap();
        let kind = game(name).unwrap();
        let seed = root.seed(name, 0);
        let mut dice = Dice::new(&seed);
        let sitting = Sitting::new(Fixture {
            kind,
            game_id: "explained".to_owned(),
            setup: serde_json::Value::Null,
            seed,
            players: PerSeat::new(kind.info().seats, |seat| format!("p{seat}")),
            limits: Limits::default(),
            spent: PerSeat::default(),
        });
        sitting
            .unwrap()
            .play_out(|_, _, legal| dice.below(legal as u32) as usize)
    }

    #[test]
    fn with_hidden_hands_a_seat_is_told_of_its_own_moves_and_of_no_others() {
        let record = played("mahjong");
        let seat = Seat::new(1);
        let mut own = Vec::new();
        referee_games::replay(&record, |moment| {
            if moment.seat == seat {
                own.push(moment.seat);
            }
        })
        .unwrap();
        let request = AdviceRequest::Explanation {
            record: record.to_json_lines(),
            seat: 1,
        };
        let advice = advise(&request, &hinter(), &analyst()).unwrap();
        let Advice::Explanation(told) = advice else {
            panic!("{advice:?}");
        };
        assert_eq!(told.moves.len(), own.len());
        for (number, one) in (1..).zip(&told.moves) {
            assert_eq!((one.number, one.seat, &*one.player), (number, 1, "p1"));
        }
        assert_eq!(told.explanation.bot.as_deref(), Some("house:tenpai"));
    }
}
