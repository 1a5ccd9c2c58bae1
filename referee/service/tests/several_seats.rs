//! A game that asks several seats at once, over real streams.
#![expect(clippy::unwrap_used, reason = "this is how a test fails")]

use std::{
    convert::Infallible,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use arena_proto::{
    arena::v1::{
        AnswerEnvelope, CallEnvelope, Ending, FoulKind as ProtoFoul, Ready, call_envelope,
    },
    opaque::OpaqueCodec,
};
use bytes::Bytes;
use parking_lot::Mutex;
use prost::Message as _;
use referee::{Address, Bot, Pool, SeatedGame};
use referee_core::{
    Event, FoulKind, Limits, ListedGame, Record, Seat, Seed, Sight as _, Wire, testing::Bids,
};
use referee_games::Fixture;
use tokio::{
    net::TcpListener,
    sync::{Barrier, mpsc},
};
use tokio_stream::wrappers::{ReceiverStream, TcpListenerStream};
use tonic::{
    Request, Response, Status, Streaming,
    body::Body,
    codegen::{BoxFuture, Service},
    server::{Grpc, NamedService, StreamingService},
    transport::Server,
};

type Sealed = Bids<false>;

static BIDS: ListedGame<Sealed> = ListedGame::new();
const SEATS: u8 = 3;
/// A limit that nobody reaches.
const AMPLE: Duration = Duration::from_secs(60);
/// No such card is in any hand.
const NO_CARD: u8 = 99;

/// The conduct of a bot: it plays the highest card of its hand, and …
#[derive(Clone, Default)]
struct Conduct {
    /// … waits until all the others have been asked, too;
    together: Option<Arc<Barrier>>,
    /// … takes its time;
    thinks: Duration,
    /// … breaks the rules at this question.
    cheats_at: Option<u32>,
    /// Number of games at once that it says it can play, and number of streams that its server
    /// allows on a connection.
    max_games: Option<u32>,
    streams: Option<u32>,
    /// Messages that it was sent.
    heard: Arc<Mutex<Vec<Bytes>>>,
}

/// The bot's service, made of nothing but bytes.
#[derive(Clone)]
struct BidsBot(Conduct);

impl NamedService for BidsBot {
    const NAME: &'static str = "games.bids.v1.BidsBot";
}

impl Service<http::Request<Body>> for BidsBot {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<Self::Response, Infallible>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let bot = self.clone();
        assert_eq!(request.uri().path(), Sealed::PATH);
        Box::pin(async move { Ok(Grpc::new(OpaqueCodec).streaming(bot, request).await) })
    }
}

impl StreamingService<Bytes> for BidsBot {
    type Response = Bytes;
    type ResponseStream = ReceiverStream<Result<Bytes, Status>>;
    type Future = BoxFuture<Response<Self::ResponseStream>, Status>;

    fn call(&mut self, request: Request<Streaming<Bytes>>) -> Self::Future {
        let (answers, outgoing) = mpsc::channel(1);
        tokio::spawn(play(self.0.clone(), request.into_inner(), answers));
        Box::pin(async move { Ok(Response::new(ReceiverStream::new(outgoing))) })
    }
}

async fn play(
    conduct: Conduct,
    mut calls: Streaming<Bytes>,
    answers: mpsc::Sender<Result<Bytes, Status>>,
) {
    while let Ok(Some(call)) = calls.message().await {
        conduct.heard.lock().push(call.clone());
        let Some(number) = CallEnvelope::decode(&call[..]).unwrap().number else {
            continue;
        };
        let envelope = |ready| AnswerEnvelope {
            number: Some(number),
            ready,
        };
        let answer = if number == 0 {
            let max_games = conduct.max_games;
            let ready = Ready {
                max_games,
                ..Ready::default()
            };
            envelope(Some(ready)).encode_to_vec()
        } else {
            if let Some(together) = &conduct.together {
                together.wait().await;
            }
            tokio::time::sleep(conduct.thinks).await;
            let (_, hand) = Sealed::known(&Sealed::begin(Seat::new(0), &call).unwrap());
            let card = if conduct.cheats_at == Some(number) {
                NO_CARD
            } else {
                hand.into_iter().max().unwrap()
            };
            let mut answer = envelope(None).encode_to_vec();
            Sealed::write_answer(&card, &mut answer);
            answer
        };
        if answers.send(Ok(answer.into())).await.is_err() {
            return;
        }
    }
}

async fn listening(conduct: Conduct) -> Arc<Bot> {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("tcp:{}", listener.local_addr().unwrap());
    let serving = Server::builder()
        .max_concurrent_streams(conduct.streams)
        .add_service(BidsBot(conduct))
        .serve_with_incoming(TcpListenerStream::new(listener));
    tokio::spawn(serving);
    let address: Address = address.parse().unwrap();
    Arc::new(Bot::at(address, AMPLE))
}

/// One game between bots that conduct themselves like this.
async fn played(conducts: [Conduct; SEATS as usize]) -> Record {
    let mut bots = Vec::new();
    for conduct in conducts {
        bots.push(listening(conduct).await);
    }
    let pool = Pool::new(1).unwrap();
    let record = seated(bots).play(&pool).await.unwrap();
    assert_eq!(pool.moves(), record.moves().count() as u64);
    // The last words are still on their way; then the heartbeat is alone.
    let gone = async {
        while pool.tasks() > 1 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(AMPLE, gone).await.unwrap();
    assert_eq!(Record::parse(&record.to_json_lines()).unwrap(), record);
    record
}

fn seated(bots: Vec<Arc<Bot>>) -> SeatedGame {
    SeatedGame {
        fixture: Fixture {
            kind: &BIDS,
            game_id: "sealed".to_owned(),
            setup: serde_json::Value::Null,
            spent: referee_core::PerSeat::default(),
            seed: Seed::new([5; 32]),
            players: vec!["a".to_owned(), "b".to_owned(), "c".to_owned()].into(),
            limits: Limits {
                start: AMPLE,
                per_move: AMPLE,
                ..Limits::default()
            },
        },
        bots,
        watch: None,
    }
}

/// A record's text without its times and the seal that holds for them too.
fn timeless(record: &Record) -> String {
    let text = record.to_json_lines();
    let lines = text.lines().filter(|l| !l.contains(r#""type":"seal""#));
    lines
        .map(|line| line.split(r#""thought_us":"#).next().unwrap_or_default())
        .collect::<Vec<_>>()
        .join("\n")
}

/// The notices that each bot was sent.
fn notices(conduct: &Conduct) -> Vec<call_envelope::Call> {
    let heard = conduct.heard.lock();
    heard
        .iter()
        .filter_map(|call| {
            let envelope = CallEnvelope::decode(&call[..]).unwrap();
            envelope.call.filter(|_| envelope.number.is_none())
        })
        .collect()
}

#[tokio::test]
async fn all_seats_are_asked_before_any_of_them_must_answer() {
    let together = Arc::new(Barrier::new(SEATS.into()));
    let conducts = [(); SEATS as usize].map(|()| Conduct {
        together: Some(together.clone()),
        ..Conduct::default()
    });
    let record = tokio::time::timeout(AMPLE / 2, played(conducts)).await;
    let record = record.expect("they are asked at once");
    for seat in Seat::all(SEATS) {
        assert_eq!(record.result.verdict.foul(seat), None);
    }
}

#[tokio::test]
async fn who_answers_first_does_not_change_the_record() {
    let quick = Duration::ZERO;
    let slow = Duration::from_millis(20);
    let conducts = |thinks: [Duration; 3]| {
        thinks.map(|thinks| Conduct {
            thinks,
            ..Conduct::default()
        })
    };
    let one = played(conducts([quick, slow / 2, slow])).await;
    let other = played(conducts([slow, slow / 2, quick])).await;
    assert_eq!(timeless(&one), timeless(&other));
    assert_eq!(one.play_hash(), other.play_hash());
}

#[tokio::test]
async fn the_others_are_told_of_a_forfeit_and_play_on() {
    let leaver = Seat::new(1);
    // Whether it fouls before or after the others have answered.
    let mut records = Vec::new();
    for thinks in [Duration::ZERO, Duration::from_millis(50)] {
        let mut conducts = [(); SEATS as usize].map(|()| Conduct {
            thinks: Duration::from_millis(20),
            ..Conduct::default()
        });
        conducts[leaver.index()].cheats_at = Some(2);
        conducts[leaver.index()].thinks = thinks;
        let record = played(conducts.clone()).await;

        let verdict = &record.result.verdict;
        for (seat, conduct) in Seat::all(SEATS).zip(&conducts) {
            let told = notices(conduct);
            if seat == leaver {
                assert_eq!(verdict.foul(seat).unwrap().kind(), FoulKind::Illegal);
                assert!(told.is_empty(), "{told:?}");
                continue;
            }
            assert_eq!(verdict.foul(seat), None);
            let [
                call_envelope::Call::Forfeit(forfeit),
                call_envelope::Call::Over(over),
            ] = &told[..]
            else {
                panic!("{told:?}");
            };
            assert_eq!(forfeit.seat as usize, leaver.index());
            assert_eq!(forfeit.foul(), ProtoFoul::Illegal);
            assert_eq!(over.ending(), Ending::Foul);
        }
        let bids = |by: Seat| {
            let answers = record.events.iter().filter(|event| {
                matches!(event, Event::Answered { seat, notation: Some(_), .. } if *seat == by)
            });
            answers.count()
        };
        assert_eq!(bids(leaver), 1);
        assert!(bids(Seat::new(0)) > 2, "the others played on");
        assert_eq!(bids(Seat::new(0)), bids(Seat::new(2)));
        records.push(timeless(&record));
    }
    assert_eq!(records[0], records[1]);
}

#[tokio::test]
async fn two_seats_can_leave_at_once() {
    let mut conducts = [(); SEATS as usize].map(|()| Conduct::default());
    conducts[0].cheats_at = Some(1);
    // The first to foul is the last to be judged: they are judged by seat.
    conducts[0].thinks = Duration::from_millis(50);
    conducts[2].cheats_at = Some(1);
    let record = played(conducts.clone()).await;
    let referee_core::Verdict::Finished { fouls, .. } = &record.result.verdict else {
        panic!("{:?}", record.result.verdict);
    };
    let seats: Vec<_> = fouls.iter().map(|foul| foul.seat.index()).collect();
    assert_eq!(seats, [0, 2]);
    let told = notices(&conducts[1]);
    assert!(
        matches!(told.last(), Some(call_envelope::Call::Over(_))),
        "{told:?}"
    );
}

/// A client that opens more streams than a server allows waits for one that is closed (RFC 9113,
/// section 5.1.2), and no bot is to lose that time.
#[tokio::test]
async fn no_more_games_are_played_at_once_than_a_server_allows_streams() {
    let games = 30;
    let conduct = Conduct {
        thinks: Duration::from_millis(20),
        max_games: Some(games),
        ..Conduct::default()
    };
    let narrow = Conduct {
        streams: Some(2),
        ..conduct.clone()
    };
    let bots = vec![
        listening(narrow).await,
        listening(conduct.clone()).await,
        listening(conduct).await,
    ];
    let pool = Pool::new(1).unwrap();
    // All games together take ten times as long as a bot has to say that it is ready.
    let short = Duration::from_millis(500);
    let play = |_| {
        let mut game = seated(bots.clone());
        game.fixture.limits.start = short;
        let pool = &pool;
        async move { game.play(pool).await.unwrap() }
    };
    for record in futures_util::future::join_all((0..games).map(play)).await {
        for seat in Seat::all(SEATS) {
            assert_eq!(record.result.verdict.foul(seat), None);
        }
    }
}
