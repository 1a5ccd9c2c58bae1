//! One seat in one game: the calls of the referee on one side, and on the other a bot that may be
//! cut off and come back.

use std::{pin::Pin, time::Duration};

use arena_proto::arena::v1::{
    AnswerEnvelope, CallEnvelope, Failure, FromSeat, ToSeat, from_seat::Message as Up,
};
use bytes::{BufMut as _, Bytes, BytesMut};
use futures_util::{Stream, StreamExt as _, future::pending};
use prost::Message as _;
use tokio::{
    sync::{mpsc, watch},
    time::{Instant, interval_at, sleep_until},
};
use tonic::{Code, Status};

use crate::socket::breaks;

/// Longest time that a bot may be away from a game.
pub(crate) const BACK_WITHIN: Duration = Duration::from_secs(30);
/// Most times that a bot may come back to a game.
pub(crate) const MOST_RETURNS: u32 = 3;
/// Interval of messages that keep a stream open: proxies close silent ones, often after a minute.
const BEAT: Duration = Duration::from_secs(20);
/// Most streams of a bot in one game, also those that took the place of one that was open: each is
/// told all that the bot says it has not heard.
const MOST_STREAMS: u32 = 32;
/// Interval of invitations to a seat that is not taken.
const INVITED_AGAIN: Duration = Duration::from_secs(2);
/// Longest time for a bot to end its side when the game is over.
const AFTER_GAME: Duration = Duration::from_secs(5);
/// Longest words of a bot's status, in bytes.
const LONGEST_WORDS: usize = 4096;

/// What a bot sends in a game.
pub(crate) type FromBot = Pin<Box<dyn Stream<Item = Result<FromSeat, Status>> + Send>>;

/// A bot that takes its seat, or comes back to it.
pub(crate) struct Arrival {
    /// Number of calls that it has heard.
    pub(crate) calls: u64,
    /// The last answer that it has given, if any.
    pub(crate) answer: Bytes,
    pub(crate) up: FromBot,
    pub(crate) down: mpsc::UnboundedSender<Result<ToSeat, Status>>,
}

/// One seat in one game.
pub(crate) struct SeatGame<C, I> {
    /// The referee's calls.
    pub(crate) calls: C,
    pub(crate) answers: mpsc::Sender<Result<Bytes, Status>>,
    pub(crate) arrivals: mpsc::Receiver<Arrival>,
    /// The number of the bot's control stream, while there is one.
    pub(crate) attends: watch::Receiver<Option<u64>>,
    /// Invites the bot.
    pub(crate) invite: I,
    heard: Vec<HeardCall>,
    returns: u32,
    streams: u32,
}

/// How a bot's part in a game has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SeatEnd {
    /// The game is over.
    Over,
    /// The referee has cut it off.
    CutOff,
    /// The bot has been told nothing, and is not there.
    Gone,
    /// The bot has ended its game, or has not come back.
    HungUp,
    /// The bot has ended its game with a status.
    Failed,
}

/// A call of the referee.
struct HeardCall {
    call: Bytes,
    number: Option<u32>,
    answer: Option<Bytes>,
}

/// A bot in its seat.
struct Link {
    up: FromBot,
    /// None when the game is over.
    down: Option<mpsc::UnboundedSender<Result<ToSeat, Status>>>,
}

impl<C, I> SeatGame<C, I>
where
    C: Stream<Item = Result<Bytes, Status>> + Unpin,
    I: Fn(),
{
    pub(crate) const fn new(
        calls: C,
        answers: mpsc::Sender<Result<Bytes, Status>>,
        arrivals: mpsc::Receiver<Arrival>,
        attends: watch::Receiver<Option<u64>>,
        invite: I,
    ) -> Self {
        Self {
            calls,
            answers,
            arrivals,
            attends,
            invite,
            heard: Vec::new(),
            returns: 0,
            streams: 0,
        }
    }

    /// Plays it to its end.
    pub(crate) async fn play(mut self) -> SeatEnd {
        let mut link: Option<Link> = None;
        let mut is_taken = false;
        let mut is_over = false;
        // Of a bot that is away, or has to end its side.
        let mut deadline: Option<Instant> = None;
        let mut beat = interval_at(Instant::now() + BEAT, BEAT);
        let mut again = interval_at(Instant::now() + INVITED_AGAIN, INVITED_AGAIN);
        // A stream that takes the place of this one meanwhile is seen below.
        let attends = self.attends.borrow_and_update().is_some();
        (self.invite)();
        if !attends {
            return self.gone().await;
        }
        loop {
            let late = async {
                match deadline {
                    Some(deadline) => sleep_until(deadline).await,
                    None => pending().await,
                }
            };
            tokio::select! {
                biased;
                () = self.answers.closed() => {
                    dismiss(link, &Status::cancelled("the game was cut off"));
                    return SeatEnd::CutOff;
                }
                Some(arrival) = self.arrivals.recv() => {
                    if is_over {
                        continue;
                    }
                    // One whose stream is still open here has not been missed.
                    let is_back = is_taken && link.is_none();
                    match self.arrive(arrival, is_back).await {
                        Ok(new) => link = Some(new),
                        Err(end) => return end,
                    }
                    (is_taken, deadline) = (true, None);
                    beat.reset();
                }
                call = self.calls.next(), if !is_over => match call {
                    Some(Ok(call)) => self.call(call, link.as_ref()),
                    Some(Err(_)) => {
                        dismiss(link, &Status::cancelled("the game was cut off"));
                        return SeatEnd::CutOff;
                    }
                    None => {
                        let Some(link) = &mut link else {
                            return SeatEnd::Over;
                        };
                        link.down = None;
                        is_over = true;
                        deadline = Some(Instant::now() + AFTER_GAME);
                    }
                },
                message = next(&mut link) => {
                    if !is_over && matches!(message, Some(Ok(_))) {
                        deadline = None;
                    }
                    match message {
                    Some(Ok(FromSeat { message: Some(Up::Answer(answer)) })) => {
                        self.answered(answer).await;
                    }
                    Some(Ok(FromSeat { message: Some(Up::Failure(failure)) })) => {
                        let status = status(failure);
                        if status.code() == Code::Ok {
                            return SeatEnd::HungUp;
                        }
                        let _ = self.answers.send(Err(status)).await;
                        return SeatEnd::Failed;
                    }
                    Some(Ok(_)) => {}
                    // It sent more than it may.
                    Some(Err(status)) if status.code() == Code::OutOfRange => {
                        let status = Status::new(status.code(), status.message());
                        let _ = self.answers.send(Err(status)).await;
                        return SeatEnd::Failed;
                    }
                    None | Some(Err(_)) if is_over => return SeatEnd::Over,
                    None | Some(Err(_)) if self.returns == MOST_RETURNS => {
                        return SeatEnd::HungUp;
                    }
                    // A stream that is replaced may end before the new one is there.
                    None | Some(Err(_)) => {
                        link = None;
                        deadline.get_or_insert_with(|| Instant::now() + BACK_WITHIN);
                        (self.invite)();
                    }
                    }
                }
                Ok(()) = self.attends.changed() => {
                    let is_there = self.attends.borrow_and_update().is_some();
                    if is_there {
                        // It may be a new process, and the stream of the old one dead; who plays
                        // knows the key.
                        (self.invite)();
                    } else if !is_there && !is_taken {
                        return self.gone().await;
                    } else if !is_there && deadline.is_none() {
                        // It may be cut off, and nobody is told: a stream that is alive shows it.
                        deadline = Some(Instant::now() + BACK_WITHIN);
                    }
                }
                // An invitation is lost where too much waits for the bot.
                _ = again.tick(), if !is_taken => (self.invite)(),
                _ = beat.tick(), if link.is_some() => {
                    if let Some(down) = link.as_ref().and_then(|link| link.down.as_ref()) {
                        let _ = down.send(Ok(ToSeat { call: None }));
                    }
                }
                () = late => {
                    return if is_over { SeatEnd::Over } else { SeatEnd::HungUp };
                }
            }
        }
    }

    /// Tells the bot what it has not heard.
    async fn arrive(&mut self, arrival: Arrival, is_back: bool) -> Result<Link, SeatEnd> {
        let Arrival {
            calls,
            answer,
            up,
            down,
        } = arrival;
        let too_often = |words| {
            let _ = down.send(Err(Status::aborted(words)));
            Err(SeatEnd::HungUp)
        };
        if is_back && self.returns == MOST_RETURNS {
            return too_often(format!(
                "a bot may come back to a game {MOST_RETURNS} times"
            ));
        }
        if self.streams == MOST_STREAMS {
            return too_often(format!(
                "a game may have {MOST_STREAMS} streams, one after another"
            ));
        }
        self.returns += u32::from(is_back);
        self.streams += 1;
        let is_lost = |heard: &HeardCall, number| heard.number == number && heard.answer.is_none();
        let number = number_of(&answer);
        if number.is_some() && self.heard.iter().any(|heard| is_lost(heard, number)) {
            self.answered(answer).await;
        }
        let known = usize::try_from(calls).unwrap_or(usize::MAX);
        for heard in self.heard.iter().skip(known) {
            let call = match &heard.answer {
                Some(answer) if known == 0 => with_past_answer(&heard.call, answer),
                _ => heard.call.clone(),
            };
            let _ = down.send(Ok(ToSeat { call: Some(call) }));
        }
        Ok(Link {
            up,
            down: Some(down),
        })
    }

    fn call(&mut self, call: Bytes, link: Option<&Link>) {
        if let Some(down) = link.and_then(|link| link.down.as_ref()) {
            let call = Some(call.clone());
            let _ = down.send(Ok(ToSeat { call }));
        }
        // What the referee sends can be read.
        let number = CallEnvelope::decode(&*call).ok().and_then(|it| it.number);
        self.heard.push(HeardCall {
            call,
            number,
            answer: None,
        });
    }

    /// Hands an answer on, and keeps it if it is the first to a question that was asked: what else
    /// comes is judged by the referee.
    async fn answered(&mut self, answer: Bytes) {
        if let Some(number) = number_of(&answer) {
            let mut heard = self.heard.iter_mut().rev();
            let asked = heard.find(|heard| heard.number == Some(number));
            if let Some(asked) = asked.filter(|asked| asked.answer.is_none()) {
                asked.answer = Some(answer.clone());
            }
        }
        let _ = self.answers.send(Ok(answer)).await;
    }

    async fn gone(&self) -> SeatEnd {
        let _ = self.answers.send(Err(breaks())).await;
        SeatEnd::Gone
    }
}

/// The next message of the bot in this seat.
async fn next(link: &mut Option<Link>) -> Option<Result<FromSeat, Status>> {
    match link {
        Some(link) => link.up.next().await,
        None => pending().await,
    }
}

fn dismiss(link: Option<Link>, why: &Status) {
    if let Some(down) = link.and_then(|link| link.down) {
        let _ = down.send(Err(why.clone()));
    }
}

fn number_of(answer: &Bytes) -> Option<u32> {
    let envelope = AnswerEnvelope::decode(answer.clone()).ok()?;
    envelope.number
}

/// A call that was answered before. A field that is added to an encoded message is one of it.
fn with_past_answer(call: &Bytes, answer: &Bytes) -> Bytes {
    let past = CallEnvelope {
        past_answer: Some(answer.clone()),
        ..CallEnvelope::default()
    };
    let mut bytes = BytesMut::with_capacity(call.len() + past.encoded_len());
    bytes.put_slice(call);
    past.encode(&mut bytes).expect("the buffer grows");
    bytes.freeze()
}

/// The status of a bot.
fn status(failure: Failure) -> Status {
    let mut words = failure.message;
    if words.len() > LONGEST_WORDS {
        words.truncate(words.floor_char_boundary(LONGEST_WORDS));
    }
    let code = i32::try_from(failure.code).unwrap_or_default();
    Status::new(Code::from_i32(code), words)
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    };

    use arena_proto::arena::v1::{GameOver, GameStart, Ready, call_envelope};
    use tokio::task::JoinHandle;
    use tokio_stream::wrappers::{ReceiverStream, UnboundedReceiverStream};

    use super::*;

    /// A seat whose referee and whose bot are the test.
    struct Table {
        calls: Option<mpsc::Sender<Result<Bytes, Status>>>,
        answers: mpsc::Receiver<Result<Bytes, Status>>,
        arrivals: mpsc::Sender<Arrival>,
        attends: watch::Sender<Option<u64>>,
        invited: Arc<AtomicU32>,
        game: JoinHandle<SeatEnd>,
    }

    /// One stream of the bot. Dropping it ends its side in order.
    struct Stream {
        up: mpsc::UnboundedSender<Result<FromSeat, Status>>,
        down: mpsc::UnboundedReceiver<Result<ToSeat, Status>>,
    }

    impl Table {
        fn new() -> Self {
            let (calls, calling) = mpsc::channel(16);
            let (answering, answers) = mpsc::channel(16);
            let (arrivals, arriving) = mpsc::channel(1);
            let attends = watch::Sender::new(Some(1));
            let invited = Arc::new(AtomicU32::new(0));
            let count = invited.clone();
            let game = SeatGame::new(
                ReceiverStream::new(calling),
                answering,
                arriving,
                attends.subscribe(),
                move || {
                    count.fetch_add(1, Ordering::Relaxed);
                },
            );
            Self {
                calls: Some(calls),
                answers,
                arrivals,
                attends,
                invited,
                game: tokio::spawn(game.play()),
            }
        }

        async fn ask(&self, call: &CallEnvelope) {
            let calls = self.calls.as_ref().unwrap();
            calls.send(Ok(call.encode_to_vec().into())).await.unwrap();
        }

        async fn take(&self, calls: u64, last: Bytes) -> Stream {
            let (up, coming) = mpsc::unbounded_channel();
            let (going, down) = mpsc::unbounded_channel();
            let arrival = Arrival {
                calls,
                answer: last,
                up: UnboundedReceiverStream::new(coming).boxed(),
                down: going,
            };
            self.arrivals.send(arrival).await.ok().unwrap();
            Stream { up, down }
        }

        /// The next answer that the referee gets.
        async fn answer(&mut self) -> Bytes {
            self.answers.recv().await.unwrap().unwrap()
        }
    }

    impl Stream {
        async fn call(&mut self) -> CallEnvelope {
            let call = self.down.recv().await.unwrap().unwrap().call;
            CallEnvelope::decode(call.unwrap()).unwrap()
        }

        fn answer(&self, answer: &Bytes) {
            let message = Some(Up::Answer(answer.clone()));
            self.up.send(Ok(FromSeat { message })).unwrap();
        }

        fn breaks(self) {
            let broken = Status::unavailable("the connection broke");
            self.up.send(Err(broken)).unwrap();
        }
    }

    fn question(number: u32) -> CallEnvelope {
        let call = (number == 0).then(|| call_envelope::Call::Start(GameStart::default()));
        CallEnvelope {
            number: Some(number),
            call,
            ..CallEnvelope::default()
        }
    }

    fn answer(number: u32) -> Bytes {
        let answer = AnswerEnvelope {
            number: Some(number),
            ready: (number == 0).then(Ready::default),
        };
        answer.encode_to_vec().into()
    }

    /// A game in which two questions were answered and a third is asked.
    async fn game() -> (Table, Stream) {
        let mut table = Table::new();
        let mut bot = table.take(0, Bytes::new()).await;
        for number in 0..2 {
            table.ask(&question(number)).await;
            assert_eq!(bot.call().await, question(number));
            bot.answer(&answer(number));
            assert_eq!(table.answer().await, answer(number));
        }
        table.ask(&question(2)).await;
        assert_eq!(bot.call().await, question(2));
        (table, bot)
    }

    #[tokio::test(start_paused = true)]
    async fn a_bot_that_was_cut_off_hears_what_it_has_missed() {
        let (mut table, bot) = game().await;
        bot.breaks();
        tokio::time::sleep(BACK_WITHIN - Duration::from_secs(1)).await;
        assert_eq!(table.invited.load(Ordering::Relaxed), 2);
        // It had answered, and its answer was lost.
        let mut bot = table.take(3, answer(2)).await;
        assert_eq!(table.answer().await, answer(2));
        table.ask(&question(3)).await;
        assert_eq!(bot.call().await, question(3));
        bot.answer(&answer(3));
        assert_eq!(table.answer().await, answer(3));
        let over = CallEnvelope {
            call: Some(call_envelope::Call::Over(GameOver::default())),
            ..CallEnvelope::default()
        };
        table.ask(&over).await;
        assert_eq!(bot.call().await, over);
        table.calls = None;
        assert!(bot.down.recv().await.is_none());
        drop(bot);
        assert_eq!(table.game.await.unwrap(), SeatEnd::Over);
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_has_come_is_not_handed_on_twice() {
        let (mut table, bot) = game().await;
        bot.answer(&answer(2));
        assert_eq!(table.answer().await, answer(2));
        bot.breaks();
        let bot = table.take(3, answer(2)).await;
        table.ask(&question(3)).await;
        bot.answer(&answer(3));
        assert_eq!(table.answer().await, answer(3));
    }

    #[tokio::test(start_paused = true)]
    async fn a_new_process_is_caught_up_by_past_answers() {
        let (mut table, bot) = game().await;
        bot.breaks();
        let mut bot = table.take(0, Bytes::new()).await;
        for number in 0..2 {
            let past = CallEnvelope {
                past_answer: Some(answer(number)),
                ..question(number)
            };
            assert_eq!(bot.call().await, past);
        }
        assert_eq!(bot.call().await, question(2));
        bot.answer(&answer(2));
        assert_eq!(table.answer().await, answer(2));
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_that_is_replaced_is_no_return() {
        let (mut table, mut bot) = game().await;
        for _ in 0..2 * MOST_RETURNS {
            let new = table.take(3, Bytes::new()).await;
            tokio::task::yield_now().await;
            bot = new;
        }
        bot.answer(&answer(2));
        assert_eq!(table.answer().await, answer(2));
    }

    #[tokio::test(start_paused = true)]
    async fn a_bot_that_stays_away_has_hung_up_after_its_time_and_no_sooner() {
        let (mut table, bot) = game().await;
        let began = Instant::now();
        bot.breaks();
        assert!(table.answers.recv().await.is_none());
        assert_eq!(table.game.await.unwrap(), SeatEnd::HungUp);
        assert!(began.elapsed() >= BACK_WITHIN);
        assert!(began.elapsed() < BACK_WITHIN + Duration::from_secs(1));
    }

    #[tokio::test(start_paused = true)]
    async fn a_bot_comes_back_three_times_and_no_more() {
        let (mut table, mut bot) = game().await;
        for _ in 0..MOST_RETURNS {
            bot.breaks();
            // It is missed.
            tokio::time::sleep(Duration::from_secs(1)).await;
            bot = table.take(3, Bytes::new()).await;
        }
        let began = Instant::now();
        bot.breaks();
        assert!(table.answers.recv().await.is_none());
        assert_eq!(table.game.await.unwrap(), SeatEnd::HungUp);
        assert_eq!(began.elapsed(), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn a_bot_that_ends_its_game_has_hung_up_at_once() {
        let (mut table, bot) = game().await;
        let began = Instant::now();
        let message = Some(Up::Failure(Failure::default()));
        bot.up.send(Ok(FromSeat { message })).unwrap();
        assert!(table.answers.recv().await.is_none());
        assert_eq!(table.game.await.unwrap(), SeatEnd::HungUp);
        assert_eq!(began.elapsed(), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn the_status_of_a_bot_is_handed_on() {
        let (mut table, bot) = game().await;
        let message = Some(Up::Failure(Failure {
            code: Code::Internal as u32,
            message: "exception in request_move".to_owned(),
        }));
        bot.up.send(Ok(FromSeat { message })).unwrap();
        let status = table.answers.recv().await.unwrap().unwrap_err();
        assert_eq!(status.code(), Code::Internal);
        assert_eq!(status.message(), "exception in request_move");
    }

    #[tokio::test(start_paused = true)]
    async fn a_bot_that_is_gone_before_it_is_told_anything_breaks_the_stream() {
        let mut table = Table::new();
        table.ask(&question(0)).await;
        tokio::task::yield_now().await;
        table.attends.send_replace(None);
        let status = table.answers.recv().await.unwrap().unwrap_err();
        assert_eq!(status.message(), breaks().message());
        assert_eq!(table.game.await.unwrap(), SeatEnd::Gone);
    }

    #[tokio::test(start_paused = true)]
    async fn a_bot_that_attends_anew_is_invited_to_the_game_that_waits_for_it() {
        let (table, bot) = game().await;
        table.attends.send_replace(None);
        bot.breaks();
        tokio::time::sleep(Duration::from_secs(1)).await;
        let before = table.invited.load(Ordering::Relaxed);
        table.attends.send_replace(Some(2));
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!(table.invited.load(Ordering::Relaxed), before + 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_bot_that_nothing_is_heard_of_has_hung_up_though_its_stream_is_open() {
        let (mut table, _bot) = game().await;
        let began = Instant::now();
        table.attends.send_replace(None);
        assert!(table.answers.recv().await.is_none());
        assert_eq!(table.game.await.unwrap(), SeatEnd::HungUp);
        assert!(began.elapsed() < BACK_WITHIN + Duration::from_secs(1));
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_that_is_alive_outlives_the_control_stream() {
        let (mut table, mut bot) = game().await;
        table.attends.send_replace(None);
        // It is asked whether it is there.
        assert_eq!(bot.down.recv().await.unwrap().unwrap().call, None);
        bot.up.send(Ok(FromSeat { message: None })).unwrap();
        tokio::time::sleep(2 * BACK_WITHIN).await;
        bot.answer(&answer(2));
        assert_eq!(table.answer().await, answer(2));
    }

    #[tokio::test(start_paused = true)]
    async fn a_silent_stream_is_kept_open() {
        let (_table, mut bot) = game().await;
        let began = Instant::now();
        assert_eq!(bot.down.recv().await.unwrap().unwrap().call, None);
        assert_eq!(began.elapsed(), BEAT);
    }
}
