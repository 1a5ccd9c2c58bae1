//! A bot whose seats are programs that read and write lines: starts the programs, and hands each
//! seat's calls to the dialect that its program speaks.

use std::{sync::Arc, time::Duration};

use adapter_process::Descendants;
use arena_proto::{
    arena::v1::{AnswerEnvelope, CallEnvelope, GameStart, Ready, call_envelope::Call as Kind},
    opaque::OpaqueService,
};
use bytes::Bytes;
use futures_util::{Stream, StreamExt as _, stream};
use parking_lot::Mutex;
use prost::Message as _;
use referee_core::shorten;
use referee_games::GAMES;
use tokio::{task::JoinHandle, time::Instant};
use tonic::{Status, Streaming, service::Routes};

use crate::{
    AdapterError, LineSpec,
    program::{Asked, Fault, LineProgram},
};

/// The longest time that the adapter waits for the first program before it listens.
const STARTS: Duration = Duration::from_secs(3);
/// The longest text of a status, in characters: headers of HTTP/2 are not long.
const LONGEST_STATUS: usize = 600;

/// How calls are told to a program, and answers are read.
pub(crate) trait Dialect: Clone + Send + Sync + 'static {
    /// The memory of one game.
    type Memory: Default + Send;

    /// True if a program must print nothing unless it is asked.
    const SILENT: bool;
    /// The line that a program is told when it plays no more games.
    const FAREWELL: Option<&'static str>;

    /// Tells a call; gives the answer to a question, without its envelope, or Ready.
    fn hear(
        &self,
        call: &Call,
        program: &mut LineProgram,
        memory: &mut Self::Memory,
    ) -> impl Future<Output = Result<Option<Answer>, Status>> + Send;
}

/// A call.
pub(crate) struct Call {
    pub(crate) bytes: Bytes,
    pub(crate) kind: CallKind,
    /// The number of the question that an answer is expected to; none for a notice, and for a
    /// question that was answered before.
    pub(crate) question: Option<u32>,
    /// The time that it may take.
    pub(crate) asked: Asked,
}

/// What a call is, as far as all games have it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum CallKind {
    /// The game begins.
    Start(Box<GameStart>),
    /// The game is over.
    Over,
    /// Something else.
    Other,
}

/// The answer to a question.
pub(crate) enum Answer {
    /// To the start: what the program says of itself.
    Ready(Ready),
    /// The whole message.
    Message(Vec<u8>),
}

/// The bot.
pub(crate) struct LineBot {
    spec: LineSpec,
    descendants: Descendants,
    /// Programs that wait for a game.
    idle: Mutex<Vec<IdleProgram>>,
    /// The one that was dismissed last.
    dismissed: Mutex<Option<JoinHandle<()>>>,
}

/// A program that waits for a game.
struct IdleProgram {
    program: LineProgram,
    /// True if it has played one: it may be about to end.
    has_played: bool,
}

impl LineBot {
    /// Serves these games, each at the path of its call `Play`, until it is asked to stop.
    pub(crate) async fn serve<D: Dialect>(
        spec: LineSpec,
        descendants: Descendants,
        games: Vec<(String, D)>,
    ) -> Result<(), AdapterError> {
        tokio::spawn(descendants.clone().keep_clean());
        let first = LineProgram::start(&spec.command, &descendants);
        let mut first = first.map_err(|error| AdapterError::Start {
            program: spec.command.program.clone(),
            error,
        })?;
        // It has started when the adapter listens, so its memory counts as there from the start.
        first.started(STARTS).await;
        let bot = Arc::new(Self {
            spec,
            descendants,
            idle: Mutex::new(vec![IdleProgram {
                program: first,
                has_played: false,
            }]),
            dismissed: Mutex::new(None),
        });
        let services: Vec<String> = (games.iter())
            .filter_map(|(path, _)| Some(path.split('/').nth(1)?.to_owned()))
            .collect();
        let mut routes = Routes::default();
        for (path, dialect) in games {
            let bot = bot.clone();
            let play = move |calls| play(calls, dialect.clone(), bot.clone());
            let router = routes.axum_router_mut();
            *router = std::mem::take(router).route_service(&path, OpaqueService(play));
        }
        let services: Vec<&str> = services.iter().map(String::as_str).collect();
        let descriptors: Vec<_> = GAMES.iter().map(|kind| kind.descriptors()).collect();
        bot_kit::serve(routes, &services, &descriptors).await?;
        Ok(())
    }

    fn take_idle(&self) -> Option<IdleProgram> {
        self.idle.lock().pop()
    }

    /// A program that waits for a game, or a new one.
    async fn program(&self) -> Result<IdleProgram, Status> {
        while let Some(mut idle) = self.take_idle() {
            // It may have ended with its game, or have said something after it.
            let is_fit = !idle.has_played
                || (idle.program.is_running() && idle.program.check_silent().is_ok());
            if is_fit {
                return Ok(idle);
            }
        }
        self.new_program().await
    }

    async fn new_program(&self) -> Result<IdleProgram, Status> {
        // Two at once would take twice the memory.
        let dismissed = self.dismissed.lock().take();
        if let Some(dismissed) = dismissed {
            let _ = dismissed.await;
        }
        let program = LineProgram::start(&self.spec.command, &self.descendants);
        let program = program.map_err(|error| {
            let program = &self.spec.command.program;
            Status::unavailable(format!("could not start {program}: {error}"))
        })?;
        Ok(IdleProgram {
            program,
            has_played: false,
        })
    }

    /// The game is over: a program that plays many waits for the next one.
    fn part_from(&self, program: LineProgram, farewell: Option<&'static str>) {
        if self.spec.keep {
            let has_played = true;
            self.idle.lock().push(IdleProgram {
                program,
                has_played,
            });
        } else {
            let dismissed = tokio::spawn(program.dismiss(farewell));
            *self.dismissed.lock() = Some(dismissed);
        }
    }

    fn ready(&self, ready: Ready) -> Ready {
        Ready {
            bot: match ready.bot.is_empty() {
                true => self.spec.command.name(),
                false => ready.bot,
            },
            max_games: Some(self.spec.max_games.get()),
            ..ready
        }
    }
}

/// The answers of a program to the calls of one seat. The stream owns the game: when it is
/// cancelled, the program goes with it.
async fn play<D: Dialect>(
    calls: Streaming<Bytes>,
    dialect: D,
    bot: Arc<LineBot>,
) -> Result<impl Stream<Item = Result<Bytes, Status>> + Send + 'static, Status> {
    let mut seat = Seat {
        calls,
        dialect,
        bot,
        program: None,
        memory: D::Memory::default(),
    };
    // One that does not play this game says so in place of a stream.
    let first = seat.next().await?;
    let rest = stream::try_unfold(seat, |mut seat| async move {
        Ok(seat.next().await?.map(|answer| (answer, seat)))
    });
    Ok(stream::iter(first.map(Ok)).chain(rest))
}

/// One seat in one game.
struct Seat<D: Dialect> {
    calls: Streaming<Bytes>,
    dialect: D,
    bot: Arc<LineBot>,
    program: Option<LineProgram>,
    memory: D::Memory,
}

impl<D: Dialect> Seat<D> {
    /// The next answer; none when the referee has closed its side.
    async fn next(&mut self) -> Result<Option<Bytes>, Status> {
        loop {
            let call = match &mut self.program {
                None => self.calls.message().await?,
                Some(program) => tokio::select! {
                    biased;
                    call = self.calls.message() => call?,
                    fault = program.fault(D::SILENT) => return Err(fault.into()),
                },
            };
            let Some(call) = call else {
                return Ok(None);
            };
            let call = Call::read(call)?;
            if let Some(answer) = self.hear(&call).await.map_err(|status| bounded(&status))? {
                return Ok(Some(answer));
            }
        }
    }

    async fn hear(&mut self, call: &Call) -> Result<Option<Bytes>, Status> {
        let answer = match (self.program.take(), &call.kind) {
            (None, CallKind::Start(_)) => self.begin(call).await?,
            (Some(program), CallKind::Over | CallKind::Other) => {
                let (program, answer) = self.tell(call, program).await?;
                match call.kind {
                    CallKind::Over => self.bot.part_from(program, D::FAREWELL),
                    CallKind::Start(_) | CallKind::Other => self.program = Some(program),
                }
                answer
            }
            // A notice before or after the game, of a later version.
            (None, CallKind::Over | CallKind::Other) if call.question.is_none() => None,
            _ => return Err(Status::failed_precondition("the game has not begun")),
        };
        Ok(answer.map(|answer| match answer {
            Answer::Message(message) => message.into(),
            Answer::Ready(ready) => {
                let (number, ready) = (call.question, Some(self.bot.ready(ready)));
                AnswerEnvelope { number, ready }.encode_to_vec().into()
            }
        }))
    }

    /// Begins the game with a program.
    async fn begin(&mut self, call: &Call) -> Result<Option<Answer>, Status> {
        let idle = self.bot.program().await?;
        let begun = self.tell(call, idle.program).await;
        let (program, answer) = match begun {
            // It was about to end with its last game.
            Err(_) if idle.has_played => {
                self.memory = D::Memory::default();
                let new = self.bot.new_program().await?;
                self.tell(call, new.program).await?
            }
            begun => begun?,
        };
        self.program = Some(program);
        Ok(answer)
    }

    async fn tell(
        &mut self,
        call: &Call,
        mut program: LineProgram,
    ) -> Result<(LineProgram, Option<Answer>), Status> {
        if D::SILENT {
            program.check_silent()?;
        }
        // What it printed while it started may say why it ends.
        if call.question.is_some() && call.kind == CallKind::Other {
            program.asked();
        }
        let heard = self.dialect.hear(call, &mut program, &mut self.memory);
        let answer = heard.await?;
        Ok((program, answer))
    }
}

impl Call {
    fn read(bytes: Bytes) -> Result<Self, Status> {
        let at = Instant::now();
        let envelope = CallEnvelope::decode(&*bytes)
            .map_err(|error| Status::invalid_argument(error.to_string()))?;
        let kind = match envelope.call {
            Some(Kind::Start(start)) => CallKind::Start(Box::new(start)),
            Some(Kind::Over(_)) => CallKind::Over,
            Some(Kind::Forfeit(_)) | None => CallKind::Other,
        };
        let limit = match (envelope.number, envelope.limit) {
            (_, Some(limit)) => limit
                .try_into()
                .map_err(|_| Status::invalid_argument("a negative limit"))?,
            (None, None) => Duration::ZERO,
            (Some(_), None) => {
                let why = "expected a limit with each question";
                return Err(Status::invalid_argument(why));
            }
        };
        Ok(Self {
            bytes,
            kind,
            question: envelope.number.filter(|_| envelope.past_answer.is_none()),
            asked: Asked { at, limit },
        })
    }
}

impl From<Fault> for Status {
    fn from(Fault(words): Fault) -> Self {
        Self::internal(words)
    }
}

/// A status with a text that is not too long to be told.
fn bounded(status: &Status) -> Status {
    Status::new(status.code(), shorten(status.message(), LONGEST_STATUS))
}
