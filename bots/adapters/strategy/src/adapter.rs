//! The bot: serves Connect Four, with one host process for each game.

use std::{io, pin::Pin, sync::Arc};

use adapter_process::Descendants;
use arena_proto::{
    arena::v1::Ready,
    games::connect_four::v1::{
        ConnectFourAnswer, ConnectFourCall, Point,
        connect_four_answer::Answer,
        connect_four_bot_server::{ConnectFourBot, ConnectFourBotServer, SERVICE_NAME},
        connect_four_call::Call,
    },
};
use futures_util::{Stream, stream};
use nix::sys::prctl;
use parking_lot::Mutex;
use tonic::{Code, Request, Response, Status, Streaming, service::Routes};

use crate::{
    file::{Strategy, StrategyError},
    host_process::HostProcess,
    wire::PointQuestion,
};

/// Reason why a strategy can't be served.
#[derive(Debug, thiserror::Error)]
pub enum AdapterError {
    /// Its SPEC or its file is invalid.
    #[error(transparent)]
    Strategy(#[from] StrategyError),
    /// It could not be loaded; the text is the host's or the linker's.
    #[error("{0}")]
    Load(String),
    /// The system failed.
    #[error("could not serve: {0}")]
    Io(#[from] io::Error),
    /// It could not be served.
    #[error(transparent)]
    Listen(#[from] bot_kit::ListenError),
}

/// Serves the strategy, `PATH?parameter=value&…`, as a bot until it is asked to stop.
/// It loads the strategy once before it listens.
///
/// The program that calls this must call [`host`](crate::host()) when it is started
/// with the arguments `strategy-host SPEC`.
///
/// # Errors
///
/// [`AdapterError`].
pub fn adapter(spec: &str) -> Result<(), AdapterError> {
    let strategy: Strategy = spec.parse()?;
    strategy.look()?;
    // Strategies must not read the memory of this process.
    prctl::set_dumpable(false).map_err(io::Error::from)?;
    let descendants = Descendants::new()?;
    // One thread: a host dies with the thread that started it.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let served = runtime.block_on(serve(strategy, descendants));
    drop(runtime);
    adapter_process::end();
    served
}

async fn serve(strategy: Strategy, descendants: Descendants) -> Result<(), AdapterError> {
    tokio::spawn(descendants.clone().keep_clean());
    let (first, lacks) = match HostProcess::load(&strategy, &descendants).await {
        Ok(process) => (Some(process), None),
        // It listens, so that the referee hears what is missing as what it is: a bot that
        // does not play this game, not one that did not start.
        Err(status) if status.code() == Code::Unimplemented => (None, Some(status)),
        Err(status) => return Err(AdapterError::Load(status.message().to_owned())),
    };
    let adapter = Adapter {
        strategy: Arc::new(strategy),
        descendants,
        first: Mutex::new(first),
        lacks,
    };
    let routes = Routes::new(ConnectFourBotServer::new(adapter));
    bot_kit::serve(routes, &[SERVICE_NAME], &[]).await?;
    Ok(())
}

struct Adapter {
    strategy: Arc<Strategy>,
    descendants: Descendants,
    /// The process in which the strategy was tried plays the first game. It exists when
    /// the adapter listens, so its memory counts as there from the start.
    first: Mutex<Option<HostProcess>>,
    /// The error that names the function of the interface that the strategy lacks, if it lacks one.
    lacks: Option<Status>,
}

impl Adapter {
    fn first(&self) -> Option<HostProcess> {
        let mut first = self.first.lock();
        first.take()
    }
}

type AnswerStream = Pin<Box<dyn Stream<Item = Result<ConnectFourAnswer, Status>> + Send>>;

#[tonic::async_trait]
impl ConnectFourBot for Adapter {
    type PlayStream = AnswerStream;

    async fn play(
        &self,
        calls: Request<Streaming<ConnectFourCall>>,
    ) -> Result<Response<AnswerStream>, Status> {
        if let Some(lacks) = &self.lacks {
            return Err(lacks.clone());
        }
        let game = StrategyGame {
            calls: calls.into_inner(),
            strategy: self.strategy.clone(),
            descendants: self.descendants.clone(),
            spare: self.first(),
            process: None,
        };
        // The stream owns the game: when it is cancelled, the host goes with it.
        Ok(Response::new(Box::pin(stream::try_unfold(
            game,
            |mut game| async move { Ok(game.answer().await?.map(|answer| (answer, game))) },
        ))))
    }
}

/// One game.
struct StrategyGame {
    calls: Streaming<ConnectFourCall>,
    strategy: Arc<Strategy>,
    descendants: Descendants,
    /// A process that has loaded the strategy and not played.
    spare: Option<HostProcess>,
    process: Option<HostProcess>,
}

impl StrategyGame {
    /// The next answer; none when the referee has closed its side.
    async fn answer(&mut self) -> Result<Option<ConnectFourAnswer>, Status> {
        loop {
            let call = match &mut self.process {
                None => self.calls.message().await?,
                Some(process) => tokio::select! {
                    biased;
                    call = self.calls.message() => call?,
                    status = process.fails() => return Err(status),
                },
            };
            let Some(call) = call else {
                return Ok(None);
            };
            let number = call.number;
            if let Some(answer) = self.hear(call).await? {
                let answer = Some(answer);
                return Ok(Some(ConnectFourAnswer { number, answer }));
            }
        }
    }

    async fn hear(&mut self, call: ConnectFourCall) -> Result<Option<Answer>, Status> {
        let again = call.past_answer.is_some();
        match call.call {
            Some(Call::Start(_)) => {
                let stones = call.board.is_some_and(|board| board.board.is_some());
                if self.strategy.keeps_globals && (stones || again) {
                    return Err(Status::failed_precondition(
                        "this strategy keeps the game in globals from its first move \
                         (keeps-globals), so it can't begin in the middle of one",
                    ));
                }
                self.process = None;
                let process = match self.spare.take() {
                    Some(spare) => spare,
                    None => HostProcess::load(&self.strategy, &self.descendants).await?,
                };
                self.process = Some(process);
                Ok((!again).then(|| Answer::Ready(self.ready())))
            }
            // Each question holds the whole position.
            Some(Call::GetPoint(_)) if again => Ok(None),
            Some(Call::GetPoint(ask)) => {
                let question = PointQuestion::of(&ask).ok_or_else(|| {
                    Status::invalid_argument("expected n bytes of top and m times n bytes of board")
                })?;
                let process = self
                    .process
                    .as_mut()
                    .ok_or_else(|| Status::failed_precondition("the game has not begun"))?;
                let given = process.point(&question).await?;
                Ok(Some(Answer::Point(Point {
                    x: Some(given.x),
                    y: Some(given.y),
                })))
            }
            Some(Call::Over(_) | Call::Forfeit(_)) | None => Ok(None),
        }
    }

    fn ready(&self) -> Ready {
        Ready {
            bot: self.strategy.name(),
            version: "strategy".to_owned(),
            max_games: Some(self.strategy.max_games.get()),
            can_resume: !self.strategy.keeps_globals,
        }
    }
}
