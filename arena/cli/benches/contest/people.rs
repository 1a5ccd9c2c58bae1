//! People of a contest in their browsers.

use std::{io, sync::Arc, time::Duration};

use parking_lot::Mutex;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::TcpStream,
    task::JoinSet,
    time::{Instant, MissedTickBehavior, interval, sleep, sleep_until, timeout},
};

use crate::{
    APART, LOOKS,
    client::{ask, header},
};

/// Whoever gets no answer within this time has an error.
const PATIENCE: Duration = Duration::from_secs(30);

/// The answers of one kind: how long they took, and what came instead of them.
pub(crate) struct Answers {
    pub(crate) kind: &'static str,
    pub(crate) took: Mutex<Vec<Duration>>,
    pub(crate) errors: Mutex<Vec<String>>,
}

impl Answers {
    fn new(kind: &'static str) -> Self {
        Self {
            kind,
            took: Mutex::default(),
            errors: Mutex::default(),
        }
    }

    fn add(&self, took: Duration) {
        self.took.lock().push(took);
    }

    fn fail(&self, why: String) {
        self.errors.lock().push(why);
    }

    /// Waits for an answer, and gives it if its status is this one.
    async fn of(
        &self,
        status: &str,
        asked: impl Future<Output = io::Result<String>>,
    ) -> Option<String> {
        let began = Instant::now();
        let answer = match timeout(PATIENCE, asked).await {
            Err(_) => Err(format!("no answer in {PATIENCE:?}")),
            Ok(Err(error)) => Err(error.to_string()),
            Ok(Ok(answer)) if answer.starts_with(&format!("HTTP/1.1 {status} ")) => Ok(answer),
            Ok(Ok(answer)) => Err(answer.lines().next().unwrap_or_default().to_owned()),
        };
        match answer {
            Ok(answer) => {
                self.add(began.elapsed());
                Some(answer)
            }
            Err(why) => {
                self.fail(why);
                None
            }
        }
    }
}

/// The answers of all kinds.
pub(crate) struct AllAnswers {
    log_in: Answers,
    board: Answers,
    mine: Answers,
    entries: Answers,
    admin: Answers,
    pub(crate) post: Answers,
    first: Answers,
    news: Answers,
}

impl AllAnswers {
    fn new() -> Self {
        Self {
            log_in: Answers::new("log in"),
            board: Answers::new("page with the board"),
            mine: Answers::new("page with own entries"),
            entries: Answers::new("API, own entries"),
            admin: Answers::new("page of the organiser"),
            post: Answers::new("hand in"),
            first: Answers::new("first event"),
            news: Answers::new("event with a new entry"),
        }
    }

    pub(crate) const fn all(&self) -> [&Answers; 8] {
        [
            &self.log_in,
            &self.board,
            &self.mine,
            &self.entries,
            &self.admin,
            &self.post,
            &self.first,
            &self.news,
        ]
    }
}

/// The events that somebody follows.
#[derive(Default)]
struct Events {
    last: String,
    /// What the next ones are to name, and since when.
    awaits: Option<(String, Instant)>,
}

/// Somebody who is logged in.
struct Person {
    page: String,
    /// The lines of the header that say who asks, and from where.
    header: String,
    events: Mutex<Events>,
    answers: Arc<AllAnswers>,
}

/// The contestants and an organiser.
pub(crate) struct Crowd {
    contestants: Vec<Arc<Person>>,
    organiser: Arc<Person>,
    pub(crate) answers: Arc<AllAnswers>,
}

impl Crowd {
    /// Logs all in, each from an address of their own. The last one is the organiser.
    pub(crate) async fn log_in(page: &str, tokens: &[String]) -> Self {
        let answers = Arc::new(AllAnswers::new());
        let mut people = Vec::new();
        for (number, token) in tokens.iter().enumerate() {
            // Of the network for benchmarks (RFC 2544).
            let (high, low) = (number / 250, number % 250 + 1);
            let from = format!("X-Forwarded-For: 198.18.{high}.{low}\r\n");
            let form = format!("token={token}");
            let asked = ask(page, "POST", "/contest/bench/login", &from, &form);
            let answer = answers.log_in.of("303", asked).await;
            let answer = answer.expect("all are let in");
            let cookie = header(&answer, "set-cookie").expect("a cookie");
            people.push(Arc::new(Person {
                page: page.to_owned(),
                header: format!("{from}Cookie: {cookie}\r\n"),
                events: Mutex::default(),
                answers: answers.clone(),
            }));
        }
        let organiser = people.pop().expect("an organiser");
        Self {
            contestants: people,
            organiser,
            answers,
        }
    }

    /// All look and follow for so long, and hand in one after another.
    pub(crate) async fn take_part(&self, length: Duration) {
        let end = Instant::now() + length;
        let (mut asking, mut following) = (JoinSet::new(), JoinSet::new());
        let all = self.contestants.len() as u32;
        for (number, person) in (0..).zip(&self.contestants) {
            let waits = LOOKS * number / all;
            following.spawn(person.clone().follow("mine", waits));
            asking.spawn(person.clone().look(waits, end));
        }
        following.spawn(self.organiser.clone().follow("admin", Duration::ZERO));
        asking.spawn(self.organiser.clone().organise(end));
        let mut turns = interval(APART);
        turns.set_missed_tick_behavior(MissedTickBehavior::Burst);
        for (number, person) in (0..).zip(self.contestants.iter().cycle()) {
            tokio::select! {
                () = sleep_until(end) => break,
                _ = turns.tick() => {}
            }
            asking.spawn(person.clone().hand_in(crate::bot(number)));
        }
        while let Some(asked) = asking.join_next().await {
            asked.expect("no panic");
        }
        following.shutdown().await;
    }
}

impl Person {
    /// Asks for something as browsers do, which have it packed.
    async fn get(&self, path: &str) -> io::Result<String> {
        let header = format!("{}Accept-Encoding: gzip\r\n", self.header);
        ask(&self.page, "GET", path, &header, "").await
    }

    /// Looks at the board and at own entries, after this time and then again and again.
    async fn look(self: Arc<Self>, waits: Duration, end: Instant) {
        sleep(waits).await;
        let mut looks = interval(LOOKS);
        let answers = &self.answers;
        let kinds = [
            (&answers.board, "/contest/bench"),
            (&answers.mine, "/contest/bench/mine"),
            (&answers.entries, "/api/v1/contests/bench/entries"),
        ];
        for (kind, path) in kinds.iter().cycle() {
            looks.tick().await;
            if Instant::now() >= end {
                return;
            }
            kind.of("200", self.get(path)).await;
        }
    }

    async fn organise(self: Arc<Self>, end: Instant) {
        let mut looks = interval(LOOKS);
        while Instant::now() < end {
            looks.tick().await;
            self.answers
                .admin
                .of("200", self.get("/contest/bench/admin"))
                .await;
        }
    }

    async fn hand_in(self: Arc<Self>, (file, source): (&'static str, String)) {
        let path = format!("/api/v1/contests/bench/entries?group=1&file={file}");
        let asked = ask(&self.page, "POST", &path, &self.header, &source);
        let Some(answer) = self.answers.post.of("201", asked).await else {
            return;
        };
        let entry = number_of(&answer).expect("its number");
        let link = format!("contest/bench/entries/{entry}\\\"");
        let mut events = self.events.lock();
        // It may have come before the answer.
        match events.last.contains(&link) {
            true => self.answers.news.add(Duration::ZERO),
            false => events.awaits = Some((link, Instant::now())),
        }
    }

    /// Follows a part of the contest, after this time.
    async fn follow(self: Arc<Self>, part: &'static str, waits: Duration) {
        sleep(waits).await;
        loop {
            if let Err(error) = self.events(part).await {
                self.answers.first.fail(error.to_string());
                sleep(Duration::from_secs(1)).await;
            }
        }
    }

    /// Reads events until they end.
    async fn events(&self, part: &str) -> io::Result<()> {
        let began = Instant::now();
        let mut stream = TcpStream::connect(&self.page).await?;
        let (page, header) = (&self.page, &self.header);
        let request =
            format!("GET /contest/bench/{part}/events HTTP/1.1\r\nHost: {page}\r\n{header}\r\n");
        stream.write_all(request.as_bytes()).await?;
        let mut lines = BufReader::new(stream).lines();
        let mut is_first = true;
        while let Some(line) = lines.next_line().await? {
            if is_first && line.starts_with("HTTP/1.1") && !line.ends_with(" 200 OK") {
                return Err(io::Error::other(line));
            }
            let Some(event) = line.strip_prefix("data:") else {
                continue;
            };
            if is_first {
                self.answers.first.add(began.elapsed());
                is_first = false;
            }
            let mut events = self.events.lock();
            let awaits = &mut events.awaits;
            if let Some((_, since)) = awaits.take_if(|(link, _)| event.contains(&**link)) {
                self.answers.news.add(since.elapsed());
            }
            event.clone_into(&mut events.last);
        }
        match is_first {
            true => Err(io::Error::other("it ended before its first event")),
            false => Ok(()),
        }
    }
}

/// The number of an entry in JSON.
fn number_of(answer: &str) -> Option<u64> {
    let (_, rest) = answer.split_once("\"entry\":")?;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}
