//! Learns the weights of the engine from rounds that it plays, and writes the same file each time: first
//! against an opponent that discards any unseen tile and never wins, as `simple` does, then against
//! one that discards and wins as `shanten` does, whose habits are learned at the same time.
//!
//! What is learned is kept in a folder every minute, in the stages that learn the same rounds several times
//! after each time; a run that was stopped continues there.

#[path = "shared/round.rs"]
mod round;

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::ExitCode,
    time::{Duration, Instant},
};

use clap::Parser;
use rand::{Rng, RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use round::{End, Player, Round, wall};
use tenpai::{
    Engine, Hand, KINDS, Limit, Shanten, Situation, Tile, Valued, Weights, divided, faan,
    features::{
        AHEAD, Chances, PASSIVE_ROWS, PRESSED, RACING_ROWS, Rows, Suits, Threat, is_of_the_race,
    },
    network::{Layout, PassiveNetwork, RacingNetwork, UNIT, WideNetwork, threshold},
    opponent::{READINGS, Racer, THROWS, TURNS, likelihood, turn},
    reader::{self, SuitRows, sight},
    shuffle,
};

/// Learns the weights of the engine.
#[derive(Parser)]
struct Arguments {
    /// The folder for what is learned so far; a run that was stopped continues there
    folder: PathBuf,
    /// The file of weights
    out: PathBuf,
    /// The file of the weights of the wide network
    wide: PathBuf,
    /// Write the files of weights with what the folder has, learn nothing
    #[arg(long)]
    now: bool,
    /// Play so many rounds with what the folder has, learn nothing and write nothing
    #[arg(long)]
    play: Option<u64>,
    /// What those rounds are drawn from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Only the stage of this name
    #[arg(long)]
    only: Option<String>,
    /// How many threads play the rounds of the last stages; what is learned does not depend on it
    #[arg(long, default_value_t = 1)]
    threads: usize,
}

/// A part of the learning.
struct Stage {
    name: &'static str,
    network: Kind,
    /// The stage with whose network and readers it begins.
    from: Option<&'static str>,
    rounds: u64,
    /// What its rounds are drawn from.
    seed: u64,
    /// The step of the network at the beginning and at the end; none if it stays as it is.
    rates: Option<[f32; 2]>,
    /// What of the network is learned.
    learns: Learns,
    /// The steps of the readers of the other seat's discards; none if they stay as they are.
    reading: Option<[f32; 2]>,
    /// From what the network learns.
    targets: Targets,
    /// How often a discard is drawn at random among the best three.
    explore: f64,
    /// The points of a faan, 3 by the rules.
    pay: f32,
}

/// What a network learns.
#[derive(Clone, Copy, PartialEq)]
enum Targets {
    /// The final score, of which so much counts, and the later estimates.
    Rounds(f32),
    /// Of the discards in rounds: the mean over all draws of the estimates after the next draw, when the
    /// other seat has discarded. The estimates are those of the network as it was after a multiple of so
    /// many rounds; a run that was stopped continues there.
    Draws(u64),
    /// What all good discards differ by in the means over all draws, if the other seat is as near to a win
    /// then as it is now. The estimates after a draw are those of the network with which the stage begins,
    /// and what its rounds show is learned so often. A run that was stopped begins the last time again.
    Discards(u64),
}

/// What of a network is learned.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Learns {
    All,
    /// All but the rows from this one on, which count nothing yet.
    Before(usize),
    /// What the turn counts and how near the other seat is to a win; what hands differ by otherwise stays.
    TheRace,
}

/// A network, by the other seat.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Passive,
    Racing,
    /// The wide one, against a seat that races.
    Wide,
}

impl Kind {
    const fn layout(self) -> Layout {
        match self {
            Self::Passive => Layout::PASSIVE,
            Self::Racing => Layout::RACING,
            Self::Wide => Layout::WIDE,
        }
    }

    /// The largest weight that a row may have.
    const fn largest(self) -> f32 {
        match self {
            Self::Passive => PassiveNetwork::LARGEST,
            Self::Racing => RacingNetwork::LARGEST,
            Self::Wide => WideNetwork::LARGEST,
        }
    }

    /// The rows of a hand, when so many tiles are left in the wall.
    fn rows(self, suits: &Suits, left: u8, threat: Option<&Threat>) -> Rows {
        match (self, threat) {
            (Self::Wide, Some(threat)) => suits.wide_rows(left, threat),
            _ => suits.rows(left, threat),
        }
    }
}

/// With the true score the engine learns fast, small hands and stays with them; it finds the large
/// ones if it begins with many points for a faan.
const STAGES: [Stage; 12] = [
    Stage {
        name: "large",
        network: Kind::Passive,
        from: None,
        rounds: 200_000,
        seed: 71,
        rates: Some([0.0003, 0.0001]),
        learns: Learns::All,
        reading: None,
        targets: Targets::Rounds(0.85),
        explore: 0.03,
        pay: 30.0,
    },
    Stage {
        name: "passive",
        network: Kind::Passive,
        from: Some("large"),
        rounds: 1_500_000,
        seed: 72,
        rates: Some([0.0001, 0.000_002]),
        learns: Learns::All,
        reading: None,
        targets: Targets::Rounds(0.75),
        explore: 0.007,
        pay: 3.0,
    },
    Stage {
        name: "race",
        network: Kind::Racing,
        from: None,
        rounds: 400_000,
        seed: 81,
        rates: Some([0.0003, 0.0001]),
        learns: Learns::All,
        reading: Some([0.03, 0.03]),
        targets: Targets::Rounds(0.8),
        explore: 0.01,
        pay: 3.0,
    },
    Stage {
        name: "reading",
        network: Kind::Racing,
        from: Some("race"),
        rounds: 400_000,
        seed: 82,
        rates: None,
        learns: Learns::All,
        reading: Some([0.03, 0.003]),
        targets: Targets::Rounds(0.6),
        explore: 0.007,
        pay: 3.0,
    },
    Stage {
        name: "racing",
        network: Kind::Racing,
        from: Some("reading"),
        rounds: 3_000_000,
        seed: 83,
        rates: Some([0.0001, 0.000_001]),
        learns: Learns::All,
        reading: None,
        targets: Targets::Rounds(0.6),
        explore: 0.007,
        pay: 3.0,
    },
    Stage {
        name: "rereading",
        network: Kind::Racing,
        from: Some("racing"),
        rounds: 400_000,
        seed: 84,
        rates: None,
        learns: Learns::All,
        reading: Some([0.03, 0.003]),
        targets: Targets::Rounds(0.6),
        explore: 0.007,
        pay: 3.0,
    },
    Stage {
        name: "draws",
        network: Kind::Racing,
        from: Some("rereading"),
        rounds: 600_000,
        seed: 85,
        rates: Some([0.000_02, 0.000_001]),
        learns: Learns::All,
        reading: None,
        targets: Targets::Draws(1000),
        explore: 0.007,
        pay: 3.0,
    },
    Stage {
        name: "ahead",
        network: Kind::Racing,
        from: Some("draws"),
        rounds: 90_000,
        seed: 86,
        rates: Some([0.000_6, 0.000_005]),
        learns: Learns::All,
        reading: None,
        targets: Targets::Discards(12),
        explore: 0.02,
        pay: 3.0,
    },
    WIDE,
    SCORES,
    Stage {
        name: "further",
        from: Some(SCORES.name),
        rounds: 200_000,
        seed: 92,
        learns: Learns::All,
        targets: Targets::Discards(8),
        ..WIDE
    },
    Stage {
        name: "rescores",
        from: Some("further"),
        seed: 94,
        ..SCORES
    },
];

/// The first stage of the wide network.
const WIDE: Stage = Stage {
    name: "wide",
    network: Kind::Wide,
    from: Some("ahead"),
    rounds: 120_000,
    seed: 88,
    rates: Some([0.000_6, 0.000_005]),
    learns: Learns::Before(AHEAD),
    reading: None,
    targets: Targets::Discards(10),
    explore: 0.02,
    pay: 3.0,
};

/// Makes its values expected points again.
const SCORES: Stage = Stage {
    name: "scores",
    network: Kind::Wide,
    from: Some("wide"),
    rounds: 300_000,
    seed: 90,
    rates: Some([0.000_1, 0.000_003]),
    learns: Learns::TheRace,
    reading: None,
    targets: Targets::Rounds(0.9),
    explore: 0.007,
    pay: 3.0,
};

impl Stage {
    /// How much the final score counts, if the network learns from rounds.
    const fn lambda(&self) -> Option<f32> {
        match (self.targets, self.rates) {
            (Targets::Rounds(lambda), Some(_)) => Some(lambda),
            _ => None,
        }
    }

    /// Small weights by chance; none for the rows that only a network against a racing opponent has.
    fn random<const FIRST: usize>(&self, rng: &mut impl Rng) -> Vec<f32> {
        let layout = self.network.layout();
        let rows = match self.network {
            Kind::Passive => PASSIVE_ROWS,
            Kind::Racing | Kind::Wide => PRESSED,
        };
        let mut weights = vec![0.0; layout.weights];
        for (at, weight) in weights.iter_mut().enumerate() {
            let width = match at {
                _ if at < rows * FIRST => 0.05,
                _ if at < layout.second => continue,
                _ if at < layout.offsets => 0.25,
                _ if at < layout.last => 0.0,
                _ => 0.25,
            };
            *weight = width * (2.0 * rng.random::<f32>() - 1.0);
        }
        weights
    }
}

/// Otherwise a run that was stopped continues after a multiple of so many rounds.
const BATCH: u64 = 1000;
/// How often what is learned is kept.
const KEEP: Duration = Duration::from_mins(1);

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> io::Result<()> {
    fs::create_dir_all(&arguments.folder)?;
    tenpai::prepare();
    for stage in &STAGES {
        let is_left_out = |only| only != stage.name;
        if arguments.only.as_deref().is_some_and(is_left_out) {
            continue;
        }
        match stage.network {
            Kind::Passive => PassiveProgress::run(arguments, stage)?,
            Kind::Racing => RacingProgress::run(arguments, stage)?,
            Kind::Wide => WideProgress::run(arguments, stage)?,
        }
    }
    if arguments.play.is_some() || arguments.only.is_some() {
        return Ok(());
    }
    let folder = &arguments.folder;
    let passive = PassiveProgress::open(folder, named("passive"))?;
    let racing = RacingProgress::open(folder, named("ahead"))?;
    let bytes = racing.bytes(&passive.network.weights, &racing.network.weights);
    fs::write(&arguments.out, bytes)?;
    let wide = WideProgress::open(folder, named("rescores"))?;
    let bytes = Weights::wide_to_bytes(&wide.network.weights);
    fs::write(&arguments.wide, bytes)
}

fn named(name: &str) -> &'static Stage {
    let stage = STAGES.iter().find(|stage| stage.name == name);
    stage.expect("one of the stages")
}

type PassiveProgress = Progress<{ PassiveNetwork::FIRST }, { PassiveNetwork::SECOND }>;
type RacingProgress = Progress<{ RacingNetwork::FIRST }, { RacingNetwork::SECOND }>;
type WideProgress = Progress<{ WideNetwork::FIRST }, { WideNetwork::SECOND }>;

fn file(folder: &Path, stage: &str) -> PathBuf {
    folder.join(format!("{stage}.learned"))
}

/// All that a stage has so far, with layers of these widths.
struct Progress<const FIRST: usize, const SECOND: usize> {
    rounds: u64,
    rng: ChaCha8Rng,
    network: Numbers,
    opponent: Opponent,
}

impl<const FIRST: usize, const SECOND: usize> Progress<FIRST, SECOND> {
    fn run(arguments: &Arguments, stage: &Stage) -> io::Result<()> {
        let mut progress = Self::open(&arguments.folder, stage)?;
        if let Some(rounds) = arguments.play {
            progress.rng = ChaCha8Rng::seed_from_u64(arguments.seed);
            let mut sums = Sums::default();
            for round in 0..rounds {
                let played = progress.round(stage, round, 0.0);
                sums.add(f64::from(played.score), played.left);
            }
            println!("{}: {sums}", stage.name);
        } else if !arguments.now {
            progress.learn(arguments, stage)?;
        }
        Ok(())
    }

    /// Learns a stage to its end.
    fn learn(&mut self, arguments: &Arguments, stage: &Stage) -> io::Result<()> {
        if let (Targets::Discards(times), Some(from)) = (stage.targets, stage.from) {
            let (folder, from) = (&arguments.folder, named(from));
            let teacher = match from.network {
                Kind::Wide => WideProgress::open(folder, from)?.teacher(stage, from.network),
                _ => RacingProgress::open(folder, from)?.teacher(stage, from.network),
            };
            return self.learn_discards(arguments, &teacher, times);
        }
        let mut teacher = None;
        let began = Instant::now();
        let mut kept = began;
        let mut sums = Sums::default();
        while self.rounds < stage.rounds {
            self.set_rates(stage, self.rounds as f32 / stage.rounds as f32);
            let may_stop = match stage.targets {
                Targets::Draws(refresh) => {
                    let teacher = teacher.get_or_insert_with(|| self.teacher(stage, stage.network));
                    self.learn_from(teacher, arguments.threads, &mut sums);
                    self.rounds.is_multiple_of(refresh)
                }
                _ => {
                    self.learn_round(stage, &mut sums);
                    self.rounds.is_multiple_of(BATCH)
                }
            };
            if may_stop && kept.elapsed() > KEEP || self.rounds >= stage.rounds {
                kept = Instant::now();
                self.keep_and_tell(&arguments.folder, stage, began, &sums)?;
                sums = Sums::default();
            }
            if may_stop {
                teacher = None;
            }
        }
        Ok(())
    }

    /// Plays a round and learns from it.
    fn learn_round(&mut self, stage: &Stage, sums: &mut Sums) {
        let played = self.round(stage, self.rounds, stage.explore);
        sums.add(f64::from(played.score), played.left);
        if let Some(lambda) = stage.lambda() {
            for (rows, target) in played.targets(lambda) {
                self.learn_value(stage, &rows, target, sums);
            }
        }
        self.rounds += 1;
    }

    fn learn_value(&mut self, stage: &Stage, rows: &[u16], target: f32, sums: &mut Sums) {
        let numbers = &mut self.network;
        let off = learn_value::<FIRST, SECOND>(numbers, stage, rows, target / UNIT);
        sums.error += f64::from(off * UNIT).powi(2);
        sums.samples += 1.0;
    }

    /// The steps when so much of a stage is done.
    fn set_rates(&mut self, stage: &Stage, done: f32) {
        let rate = |rates: Option<[f32; 2]>| {
            rates.map_or(0.0, |[first, last]| first * (last / first).powf(done))
        };
        self.network.rate = rate(stage.rates);
        self.opponent.set_rate(rate(stage.reading));
    }

    fn keep_and_tell(
        &mut self,
        folder: &Path,
        stage: &Stage,
        began: Instant,
        sums: &Sums,
    ) -> io::Result<()> {
        let seconds = began.elapsed().as_secs_f64();
        let loss = self.opponent.loss / self.opponent.tiles;
        println!(
            "{}: {} rounds, {seconds:.0} s: {sums}, dangers {loss:.5}",
            stage.name, self.rounds
        );
        (self.opponent.loss, self.opponent.tiles) = (0.0, 0.0);
        self.keep(&file(folder, stage.name))
    }

    /// Learns from the next rounds of a teacher.
    fn learn_from(&mut self, teacher: &Teacher<'_>, threads: usize, sums: &mut Sums) {
        let mut lessons = teacher.rounds(self.rounds, BATCH, threads, sums);
        self.rounds += BATCH;
        shuffle(&mut lessons, &mut self.rng);
        for lesson in &lessons {
            self.learn_value(teacher.stage, &lesson.rows, lesson.target, sums);
        }
    }

    /// Learns from all rounds of a teacher, so many times.
    fn learn_discards(
        &mut self,
        arguments: &Arguments,
        teacher: &Teacher<'_>,
        times: u64,
    ) -> io::Result<()> {
        let stage = teacher.stage;
        let all = times * stage.rounds;
        if self.rounds == all {
            return Ok(());
        }
        let began = Instant::now();
        let mut sums = Sums::default();
        let mut lessons = teacher.rounds(0, stage.rounds, arguments.threads, &mut sums);
        // The other seat gets nearer to a win, so all hands seem to be worth more than they are.
        let more = |it: &Lesson| f64::from(it.target - teacher.value(&it.rows));
        let more = lessons.iter().map(more).sum::<f64>() / lessons.len() as f64;
        for lesson in &mut lessons {
            lesson.target -= more as f32;
        }
        while self.rounds < all {
            let mut order: Vec<usize> = (0..lessons.len()).collect();
            shuffle(&mut order, &mut self.rng);
            for (at, &lesson) in order.iter().enumerate() {
                let part = at as f32 / lessons.len() as f32;
                let done = (self.rounds as f32 + part * stage.rounds as f32) / all as f32;
                self.set_rates(stage, done);
                let Lesson { rows, target } = &lessons[lesson];
                self.learn_value(stage, rows, *target, &mut sums);
            }
            self.rounds += stage.rounds;
            self.keep_and_tell(&arguments.folder, stage, began, &sums)?;
            (sums.error, sums.samples) = (0.0, 0.0);
        }
        Ok(())
    }

    /// What the folder has of this stage, or its beginning.
    fn open(folder: &Path, stage: &Stage) -> io::Result<Self> {
        let mut rng = ChaCha8Rng::seed_from_u64(stage.seed);
        let file_here = file(folder, stage.name);
        if file_here.exists() {
            return Self::read(&file_here, stage.network, rng);
        }
        let (network, opponent) = match stage.from.map(named) {
            Some(before) if before.network == stage.network => {
                let from = Self::read(&file(folder, before.name), before.network, rng.clone())?;
                (from.network.weights, from.opponent)
            }
            Some(narrow) => {
                let file = file(folder, narrow.name);
                let from = RacingProgress::read(&file, narrow.network, rng.clone())?;
                let mut network = stage.random::<FIRST>(&mut rng);
                begin_as(&from.network.weights, &mut network);
                (network, from.opponent)
            }
            None => (stage.random::<FIRST>(&mut rng), Opponent::new(stage.seed)),
        };
        Ok(Self {
            rounds: 0,
            rng,
            network: Numbers::new(network, Steps::Even),
            opponent,
        })
    }

    fn read(file: &Path, network: Kind, mut rng: ChaCha8Rng) -> io::Result<Self> {
        let bytes = fs::read(file)?;
        let weights = network.layout().weights;
        let mut network = Numbers::new(vec![0.0; weights], Steps::Even);
        let mut opponent = Opponent::new(0);
        let count = network.lists().into_iter().chain(opponent.lists());
        let count: usize = count.map(|list| list.len()).sum();
        if bytes.len() != 24 + 4 * count {
            let text = format!("{}: not a file of this program", file.display());
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        }
        let (head, rest) = bytes.split_at(24);
        let (rounds, place) = head.split_at(8);
        rng.set_word_pos(u128::from_le_bytes(place.try_into().expect("16 bytes")));
        let fours = rest.chunks_exact(4);
        let mut numbers =
            fours.map(|four| f32::from_le_bytes(four.try_into().expect("four bytes")));
        for list in network.lists().into_iter().chain(opponent.lists()) {
            list.iter_mut()
                .zip(numbers.by_ref())
                .for_each(|(old, new)| *old = new);
        }
        Ok(Self {
            rounds: u64::from_le_bytes(rounds.try_into().expect("8 bytes")),
            rng,
            network,
            opponent,
        })
    }

    /// As a teacher of this stage, with a network of this kind.
    fn teacher<'a>(&self, stage: &'a Stage, network: Kind) -> Teacher<'a> {
        Teacher {
            stage,
            engine: Engine::new(self.racing_weights(network)),
            network,
            weights: self.network.weights.clone(),
        }
    }

    /// As the engine reads them, with this network alone.
    fn racing_weights(&self, network: Kind) -> Weights {
        const AS_WRITTEN: &str = "weights as they are written";
        let passive = vec![0.0; Layout::PASSIVE.weights];
        let read = |racing: &[f32]| Weights::read(self.bytes(&passive, racing)).expect(AS_WRITTEN);
        if network != Kind::Wide {
            return read(&self.network.weights);
        }
        let narrow = vec![0.0; Layout::RACING.weights];
        let wide = Weights::wide_to_bytes(&self.network.weights);
        read(&narrow).with_wide(wide).expect(AS_WRITTEN)
    }

    /// The file of weights with these networks against a passive and against a racing seat.
    fn bytes(&self, passive: &[f32], racing: &[f32]) -> Vec<u8> {
        let opponent = &self.opponent;
        Weights::to_bytes([
            passive,
            racing,
            &opponent.hand.weights,
            &opponent.throws.weights,
            &opponent.losses(),
        ])
    }

    /// Writes it in such a way that the file is whole at any moment.
    fn keep(&mut self, file: &Path) -> io::Result<()> {
        let mut bytes = self.rounds.to_le_bytes().to_vec();
        bytes.extend(self.rng.get_word_pos().to_le_bytes());
        let lists = self.network.lists().into_iter();
        for list in lists.chain(self.opponent.lists()) {
            bytes.extend(list.iter().copied().flat_map(f32::to_le_bytes));
        }
        let part = file.with_extension("part");
        fs::write(&part, bytes)?;
        fs::rename(part, file)
    }

    fn round(&mut self, stage: &Stage, round: u64, explore: f64) -> Played {
        let mut table = Table {
            network: Net::<FIRST, SECOND>(&self.network.weights, stage.network),
            explore,
            rng: &mut self.rng,
            opponent: &mut self.opponent,
            reads: stage.reading.is_some(),
            pay: stage.pay,
        };
        let races = stage.network != Kind::Passive;
        table.round(races, Seat(races && round % 2 == 1))
    }
}

/// Makes a wide network of random weights say the same as a narrow one: what it has more counts nothing yet.
fn begin_as(narrow: &[f32], wide: &mut [f32]) {
    let (from, to) = (Layout::RACING, Layout::WIDE);
    let rows = narrow[..from.second].chunks_exact(RacingNetwork::FIRST);
    for (narrow, wide) in rows.zip(wide.chunks_exact_mut(WideNetwork::FIRST)) {
        wide[..RacingNetwork::FIRST].copy_from_slice(narrow);
    }
    let (counts, more) = wide[to.second..to.offsets].split_at_mut(from.offsets - from.second);
    counts.copy_from_slice(&narrow[from.second..from.offsets]);
    more.fill(0.0);
    wide[to.offsets..].copy_from_slice(&narrow[from.offsets..]);
}

/// Plays rounds by a network that does not change, and values hands by it and all draws that may follow.
struct Teacher<'a> {
    stage: &'a Stage,
    engine: Engine,
    network: Kind,
    weights: Vec<f32>,
}

/// A hand after a discard.
struct Lesson {
    rows: Rows,
    /// What it is worth, in points.
    target: f32,
}

/// Discards that are worth so many points less than the best one are not valued.
const NEAR: f32 = 8.0;
/// In how many of the turns discards are valued.
const VALUED: f64 = 0.5;

impl Teacher<'_> {
    /// What a hand with these rows is worth by its network, in points.
    fn value(&self, rows: &[u16]) -> f32 {
        match self.network {
            Kind::Wide => self
                .net::<{ WideNetwork::FIRST }, { WideNetwork::SECOND }>()
                .value(rows),
            _ => {
                // What only a wide network sees comes last.
                let seen = rows.partition_point(|&row| usize::from(row) < RACING_ROWS);
                let net = self.net::<{ RacingNetwork::FIRST }, { RacingNetwork::SECOND }>();
                net.value(&rows[..seen])
            }
        }
    }

    const fn net<const FIRST: usize, const SECOND: usize>(&self) -> Net<'_, FIRST, SECOND> {
        Net(self.weights.as_slice(), self.network)
    }

    /// What so many rounds teach, beginning with this one.
    fn rounds(&self, first: u64, count: u64, threads: usize, sums: &mut Sums) -> Vec<Lesson> {
        let never = || false;
        let rounds = divided(threads, count as usize, never, |at| {
            self.round(first + at as u64)
        });
        let mut all = Vec::new();
        for (end, lessons) in rounds {
            sums.add(f64::from(end.score), end.left);
            all.extend(lessons);
        }
        all
    }

    /// How a round ends, and what it teaches.
    fn round(&self, number: u64) -> (End, Vec<Lesson>) {
        let mut rng = ChaCha8Rng::seed_from_u64(!self.stage.seed);
        rng.set_stream(number);
        let mut player = Teaching {
            teacher: self,
            rng,
            last: None,
            lessons: Vec::new(),
        };
        let begins = number.is_multiple_of(2);
        let tiles = wall(self.stage.seed, number);
        let end = Round::deal(tiles, begins, true, Some(0.0)).play(begins, &mut player);
        (end, player.lessons)
    }
}

/// A teacher in a round.
struct Teaching<'a> {
    teacher: &'a Teacher<'a>,
    rng: ChaCha8Rng,
    /// What was kept last.
    last: Option<Kept>,
    lessons: Vec<Lesson>,
}

/// What a seat has and sees when it has discarded.
struct Kept {
    hand: Hand,
    unseen: Hand,
    left: u8,
    racer: Racer,
}

impl Kept {
    /// As this network sees it.
    fn rows(&self, network: Kind) -> Rows {
        let suits = Suits::of(&self.hand, &self.unseen, &self.racer.chances);
        network.rows(&suits, self.left, Some(&self.racer.threat))
    }
}

impl Teaching<'_> {
    /// Values a hand by all draws that may follow, as if the other seat were as near to a win then.
    fn values(&mut self, kept: &Kept) {
        let engine = &self.teacher.engine;
        let Kept {
            hand,
            unseen,
            left,
            racer,
        } = kept;
        let ahead = left.checked_sub(1).map_or(0.0, |left| {
            let wait = engine.before_draw(hand, unseen, left, racer);
            engine.through_other(hand, unseen, left, racer, wait)
        });
        self.teach(kept, ahead);
    }

    /// Keeps what this hand is worth.
    fn teach(&mut self, kept: &Kept, target: f32) {
        self.lessons.push(Lesson {
            rows: kept.rows(self.teacher.stage.network),
            target,
        });
    }

    /// Values what was kept last by all draws that may follow now, when the other seat has discarded.
    fn looks_back(&mut self, situation: &Situation) {
        let Some(kept) = self.last.take() else {
            return;
        };
        let engine = &self.teacher.engine;
        let (mut unseen, mut left) = (situation.unseen(), situation.left);
        let mut drawn = situation.hand.kinds();
        if let Some(drawn) = drawn.find(|&it| situation.hand.count(it) > kept.hand.count(it)) {
            (unseen, left) = (unseen.with(drawn), left + 1);
        }
        let racer = engine.racer(&situation.own_river, &situation.other_river, &unseen);
        let wait = engine.before_draw(&kept.hand, &unseen, left, &racer);
        let before = kept.left.saturating_sub(1);
        let ahead = engine.through_other(&kept.hand, &kept.unseen, before, &kept.racer, wait);
        self.teach(&kept, ahead);
    }
}

impl Player for Teaching<'_> {
    fn discard(&mut self, situation: &Situation) -> Tile {
        self.looks_back(situation);
        let Teacher { stage, engine, .. } = self.teacher;
        let unseen = situation.unseen();
        let racer = engine.racer(&situation.own_river, &situation.other_river, &unseen);
        let kept = |tile| Kept {
            hand: situation.hand.without(tile),
            unseen,
            left: situation.left,
            racer: racer.clone(),
        };
        let valued = engine.discards(situation, &AT_ONCE);
        let mut chosen = 0;
        if self.rng.random::<f64>() < stage.explore {
            chosen = self.rng.random_range(0..valued.len().min(3));
        }
        let chosen = valued[chosen].tile;
        match stage.targets {
            Targets::Discards(_) if self.rng.random::<f64>() < VALUED => {
                let bound = valued[0].value - NEAR;
                for one in valued.iter().filter(|one| one.value >= bound) {
                    self.values(&kept(one.tile));
                }
            }
            Targets::Draws(_) => self.last = Some(kept(chosen)),
            _ => {}
        }
        chosen
    }

    fn wins(&mut self, situation: &Situation, tile: Tile, self_draw: bool) -> bool {
        self.looks_back(situation);
        let engine = &self.teacher.engine;
        engine.wins(situation, tile, self_draw, &AT_ONCE)
    }
}

/// The networks alone decide.
const AT_ONCE: Limit<'static> = Limit::hands(1);

/// What is told of some rounds.
#[derive(Default)]
struct Sums {
    rounds: f64,
    score: f64,
    squares: f64,
    wins: f64,
    left: f64,
    losses: f64,
    error: f64,
    samples: f64,
}

impl Sums {
    fn add(&mut self, score: f64, left: u8) {
        self.rounds += 1.0;
        self.score += score;
        self.squares += score * score;
        if score > 0.0 {
            self.wins += 1.0;
            self.left += f64::from(left);
        }
        if score < 0.0 {
            self.losses += 1.0;
        }
    }
}

impl std::fmt::Display for Sums {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mean = self.score / self.rounds;
        let deviation = (self.squares / self.rounds - mean * mean).sqrt();
        write!(
            f,
            "{mean:.2} ± {:.2} a round, {:.1} % won with {:.1} left, {:.1} % lost, error {:.2}",
            deviation / self.rounds.sqrt(),
            100.0 * self.wins / self.rounds,
            self.left / self.wins,
            100.0 * self.losses / self.rounds,
            (self.error / self.samples).sqrt(),
        )
    }
}

/// A network of numbers of four bytes.
struct Net<'a, const FIRST: usize, const SECOND: usize>(&'a [f32], Kind);

impl<const FIRST: usize, const SECOND: usize> Net<'_, FIRST, SECOND> {
    fn sum(&self, rows: &[u16]) -> [f32; FIRST] {
        let mut sum = [0.0; FIRST];
        for &row in rows {
            let at = usize::from(row) * FIRST;
            for (sum, weight) in sum.iter_mut().zip(&self.0[at..at + FIRST]) {
                *sum += weight;
            }
        }
        sum
    }

    fn second(&self, first: &[f32; FIRST]) -> [f32; SECOND] {
        let mut second = [0.0; SECOND];
        let layout = self.1.layout();
        second.copy_from_slice(&self.0[layout.offsets..layout.last]);
        let layer = &self.0[layout.second..layout.offsets];
        for (first, row) in first.iter().zip(layer.chunks_exact(SECOND)) {
            for (sum, weight) in second.iter_mut().zip(row) {
                *sum += first * weight;
            }
        }
        second
    }

    fn last(&self, second: &[f32; SECOND]) -> f32 {
        let layer = &self.0[self.1.layout().last..];
        let sum: f32 = second.iter().zip(layer).map(|(x, weight)| x * weight).sum();
        sum + layer[SECOND]
    }

    fn value(&self, rows: &[u16]) -> f32 {
        let first = self.sum(rows).map(threshold);
        let second = self.second(&first).map(threshold);
        UNIT * self.last(&second)
    }

    fn discards(&self, hand: &Hand, unseen: &Hand, left: u8, racer: Option<&Racer>) -> Vec<Valued> {
        let chances = chances(racer);
        let all = Suits::of(hand, unseen, chances);
        let valued = hand.kinds().map(|tile| {
            let suits = all.without(tile, unseen, chances);
            let rows = self.1.rows(&suits, left, racer.map(|it| &it.threat));
            let value = self.value(&rows);
            Valued { tile, value }
        });
        valued.collect()
    }
}

const fn chances(racer: Option<&Racer>) -> &Chances {
    match racer {
        Some(racer) => &racer.chances,
        None => &Chances::EQUAL,
    }
}

/// A round as the learner sees it.
struct Played {
    /// The own score less that of the other seat.
    score: f32,
    left: u8,
    steps: Vec<Step>,
}

struct Step {
    rows: Rows,
    /// The value of the best discard by the network.
    best: f32,
    /// Whether another one was taken.
    explored: bool,
}

impl Played {
    /// The rows of each hand that was kept, and what it was worth.
    fn targets(self, lambda: f32) -> Vec<(Rows, f32)> {
        let mut target = self.score;
        let mut targets = Vec::with_capacity(self.steps.len());
        for step in self.steps.iter().rev() {
            targets.push((step.rows, target));
            target = if step.explored {
                step.best
            } else {
                lambda * target + (1.0 - lambda) * step.best
            };
        }
        targets
    }
}

/// What is learned of racing opponents.
struct Opponent {
    hand: Numbers,
    throws: Numbers,
    /// By turn: how often it won, and the points of that.
    wins: Vec<f32>,
    points: Vec<f32>,
    /// The sum of the logarithmic loss over all tiles of the own hands, and how many these are.
    loss: f64,
    tiles: f64,
}

impl Opponent {
    fn new(seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut random = |outputs| {
            let mut weights = vec![0.0; reader::weights(outputs)];
            for (at, weight) in weights.iter_mut().enumerate() {
                let width = match at {
                    _ if at < reader::SECOND_ROWS => 0.1,
                    _ if at < reader::OFFSETS => 0.15,
                    _ if at < reader::LAST => 0.0,
                    _ if at < reader::LAST + reader::SECOND * outputs => 0.2,
                    _ => 0.0,
                };
                *weight = width * (2.0 * rng.random::<f32>() - 1.0);
            }
            Numbers::new(weights, Steps::Smaller)
        };
        Self {
            hand: random(READINGS),
            throws: random(THROWS),
            wins: vec![0.0; TURNS],
            points: vec![0.0; TURNS],
            loss: 0.0,
            tiles: 0.0,
        }
    }

    /// All numbers.
    fn lists(&mut self) -> [&mut Vec<f32>; 6] {
        let [hand, hand_squares] = self.hand.lists();
        let [throws, throw_squares] = self.throws.lists();
        let (wins, points) = (&mut self.wins, &mut self.points);
        [hand, hand_squares, throws, throw_squares, wins, points]
    }

    const fn set_rate(&mut self, rate: f32) {
        self.hand.rate = rate;
        self.throws.rate = rate;
    }

    /// By turn: the points of its win.
    fn losses(&self) -> Vec<f32> {
        let sums = self.points.iter().zip(&self.wins);
        sums.map(|(points, wins)| (points + 50.0) / (wins + 1.0))
            .collect()
    }

    /// What the own seat sees of the other one in its turn.
    fn look(&self, own: &[Tile], other: &[Tile], unseen: &Hand) -> Look {
        let suits = sight(own, other, unseen);
        let turn = turn(other.len());
        Look {
            pass: Pass::of(&self.hand.weights, &suits),
            loss: (self.points[turn] + 50.0) / (self.wins[turn] + 1.0),
            suits,
            unseen: *unseen,
        }
    }

    /// Learns what the other seat held at this look, with which tiles it won, and what it discarded
    /// then, if it did not win.
    fn learn_hand(&mut self, look: &Look, own: &Hand, other: &Shanten, discard: Option<Tile>) {
        let outputs = &look.pass.outputs;
        let likely = look.likelihood();
        let total = look.unseen.len() as f32;
        let chance = |output: f32| 1.0 / (1.0 + (-output).exp());
        let mut slopes = [[0.0; READINGS]; 3];
        for tile in Tile::all() {
            let (suit, rank, at) = (tile.index() / 9, tile.index() % 9, tile.index());
            let left = f32::from(look.unseen.count(tile));
            if own.count(tile) + look.unseen.count(tile) == 0 {
                continue;
            }
            let wins = f32::from(u8::from(other.wins(tile).is_some()));
            slopes[suit][rank] = chance(outputs[suit][rank]) - wins;
            if own.count(tile) > 0 {
                self.loss -= f64::from((1.0 - slopes[suit][rank].abs()).max(1e-6).ln());
                self.tiles += 1.0;
            }
            let held = f32::from(other.hand.count(tile));
            slopes[suit][9 + rank] = left * chance(outputs[suit][9 + rank]) - held;
            if let Some(discard) = discard {
                let thrown = f32::from(u8::from(tile == discard));
                slopes[suit][18 + rank] = likely[at] * left / total - thrown;
            }
        }
        look.pass.learn(&mut self.hand, &look.suits, &slopes);
    }

    /// Learns what the other seat discarded after these rivers.
    fn learn_throw(&mut self, own: &[Tile], other: &[Tile], discard: Tile) {
        let hidden = own.iter().chain(other).copied();
        let hidden = hidden.fold(Hand::FULL, Hand::without);
        let suits = sight(own, other, &hidden);
        let pass = Pass::<THROWS>::of(&self.throws.weights, &suits);
        let likely = likelihood(&pass.outputs, &hidden);
        let total = hidden.len() as f32;
        let mut slopes = [[0.0; THROWS]; 3];
        for tile in hidden.kinds() {
            let left = f32::from(hidden.count(tile));
            let thrown = f32::from(u8::from(tile == discard));
            slopes[tile.index() / 9][tile.index() % 9] =
                likely[tile.index()] * left / total - thrown;
        }
        pass.learn(&mut self.throws, &suits, &slopes);
    }
}

/// The other seat as the own one sees it in its turn.
struct Look {
    suits: [SuitRows; 3],
    pass: Pass<READINGS>,
    loss: f32,
    unseen: Hand,
}

impl Look {
    fn racer(&self) -> Racer {
        Racer::read(&self.pass.outputs, self.loss, &self.unseen)
    }

    fn likelihood(&self) -> [f32; KINDS] {
        let throws = self.pass.outputs.each_ref();
        let throws = throws.map(|suit| std::array::from_fn(|rank| suit[18 + rank]));
        likelihood(&throws, &self.unseen)
    }
}

/// Whether the engine is the second seat.
#[derive(Clone, Copy)]
struct Seat(bool);

/// Where rounds are played.
struct Table<'a, R, const FIRST: usize, const SECOND: usize> {
    network: Net<'a, FIRST, SECOND>,
    explore: f64,
    rng: &'a mut R,
    opponent: &'a mut Opponent,
    reads: bool,
    pay: f32,
}

impl<R: Rng, const FIRST: usize, const SECOND: usize> Table<'_, R, FIRST, SECOND> {
    fn round(&mut self, races: bool, seat: Seat) -> Played {
        let mut tiles: Vec<Tile> = Hand::FULL.tiles().collect();
        shuffle(&mut tiles, self.rng);
        let mut hand: Hand = tiles.split_off(tiles.len() - 13).into_iter().collect();
        let mut unseen: Hand = tiles.iter().copied().collect();
        let mut other = None;
        if races {
            let dealt = tiles.split_off(tiles.len() - 13);
            other = Some(Shanten::new(&dealt));
        }
        let (mut own_river, mut other_river) = (Vec::new(), Vec::new());
        let mut racer = None;
        let mut look: Option<(Look, Hand, Shanten)> = None;
        let mut left = 82;
        let mut steps = Vec::new();
        let is_first = !seat.0;
        for own in (0..82).map(|turn| (turn % 2 == 0) == is_first) {
            left -= 1;
            let tile = tiles.pop().expect("tiles are left");
            if own {
                unseen = unseen.without(tile);
                hand = hand.with(tile);
                if let Some(other) = &other {
                    let now = self.opponent.look(&own_river, &other_river, &unseen);
                    racer = Some(now.racer());
                    look = Some((now, hand, *other));
                }
                let mut valued = self.network.discards(&hand, &unseen, left, racer.as_ref());
                if let Some(racer) = &racer {
                    for one in &mut valued {
                        let danger = racer.danger[one.tile.index()];
                        one.value = (1.0 - danger) * one.value - danger * racer.loss;
                    }
                }
                valued.sort_by(|one, other| other.value.total_cmp(&one.value));
                let top = valued[0];
                if let Some(score) = self.score(&hand, left)
                    && score >= top.value
                {
                    return Played { score, left, steps };
                }
                let mut chosen = top;
                if self.rng.random::<f64>() < self.explore {
                    chosen = valued[self.rng.random_range(0..valued.len().min(3))];
                }
                hand = hand.without(chosen.tile);
                own_river.push(chosen.tile);
                let threat = racer.as_ref().map(|it| &it.threat);
                let suits = Suits::of(&hand, &unseen, chances(racer.as_ref()));
                let step = Step {
                    rows: self.network.1.rows(&suits, left, threat),
                    best: top.value,
                    explored: chosen.tile != top.tile,
                };
                if let Some(other) = &mut other {
                    if let Some(faan) = other.wins(chosen.tile) {
                        self.read(look.take(), None);
                        let score = lost(faan, left);
                        self.lost(other_river.len(), score);
                        // What the hand would have been worth remains unknown.
                        return Played { score, left, steps };
                    }
                    other.sees(chosen.tile);
                }
                steps.push(step);
            } else {
                let discard = match &mut other {
                    None => tile,
                    Some(other) => {
                        if let Some(faan) = other.wins(tile) {
                            self.read(look.take(), None);
                            let score = lost(faan, left);
                            self.lost(other_river.len(), score);
                            return Played { score, left, steps };
                        }
                        let discard = other.discard(tile);
                        self.read(look.take(), Some(discard));
                        if self.reads {
                            let opponent = &mut self.opponent;
                            opponent.learn_throw(&own_river, &other_river, discard);
                        }
                        other_river.push(discard);
                        discard
                    }
                };
                unseen = unseen.without(discard);
                if let Some(score) = self.score(&hand.with(discard), left) {
                    let wait = if left == 0 {
                        0.0
                    } else {
                        let suits = Suits::of(&hand, &unseen, chances(racer.as_ref()));
                        let threat = racer.as_ref().map(|it| &it.threat);
                        let rows = self.network.1.rows(&suits, left - 1, threat);
                        self.network.value(&rows)
                    };
                    if score >= wait {
                        return Played { score, left, steps };
                    }
                }
            }
        }
        Played {
            score: 0.0,
            left,
            steps,
        }
    }

    fn score(&self, hand: &Hand, left: u8) -> Option<f32> {
        Some(self.pay * faan(hand, false)? as f32 + f32::from(left))
    }

    /// Learns what there was to see at the last look.
    fn read(&mut self, look: Option<(Look, Hand, Shanten)>, discard: Option<Tile>) {
        if self.reads
            && let Some((look, own, other)) = look
        {
            self.opponent.learn_hand(&look, &own, &other, discard);
        }
    }

    /// Learns what the other seat won after so many discards.
    fn lost(&mut self, discards: usize, score: f32) {
        let turn = turn(discards);
        self.opponent.wins[turn] += 1.0;
        self.opponent.points[turn] -= score;
    }
}

/// The score of a round that the other seat wins.
fn lost(faan: u32, left: u8) -> f32 {
    -((3 * faan + u32::from(left)) as f32)
}

/// How a step depends on the past gradients of its weight.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Steps {
    /// By the mean of their squares, of which the past ones count less and less (RMSProp).
    Even,
    /// By the sum of their squares (Adagrad), which suits what happens rarely: a mean would forget it.
    Smaller,
}

/// The part of a gradient in the mean of the past ones.
const KEPT: f32 = 0.001;

/// Numbers that are learned by gradient descent.
struct Numbers {
    weights: Vec<f32>,
    squares: Vec<f32>,
    steps: Steps,
    rate: f32,
}

impl Numbers {
    fn new(weights: Vec<f32>, steps: Steps) -> Self {
        let squares = match steps {
            Steps::Even => 1e-2,
            Steps::Smaller => 1.0,
        };
        Self {
            squares: vec![squares; weights.len()],
            weights,
            steps,
            rate: 0.0,
        }
    }

    const fn lists(&mut self) -> [&mut Vec<f32>; 2] {
        [&mut self.weights, &mut self.squares]
    }

    fn step(&mut self, at: usize, gradient: &[f32]) {
        let weights = &mut self.weights[at..at + gradient.len()];
        let squares = &mut self.squares[at..at + gradient.len()];
        let rate = self.rate;
        let all = weights.iter_mut().zip(squares).zip(gradient);
        match self.steps {
            Steps::Even => all.for_each(|((weight, square), gradient)| {
                *square += KEPT * (gradient * gradient - *square);
                *weight -= rate * gradient / (square.sqrt() + 1e-4);
            }),
            Steps::Smaller => all.for_each(|((weight, square), gradient)| {
                *square += gradient * gradient;
                *weight -= rate * gradient / square.sqrt();
            }),
        }
    }
}

/// The slope of the activation of a neuron.
const fn slope(x: f32) -> f32 {
    if x > 0.0 { 1.0 } else { 0.01 }
}

/// Moves what a network says of these rows towards the target, and returns how far it was off.
fn learn_value<const FIRST: usize, const SECOND: usize>(
    numbers: &mut Numbers,
    stage: &Stage,
    rows: &[u16],
    target: f32,
) -> f32 {
    let layout = stage.network.layout();
    let network = Net::<FIRST, SECOND>(&numbers.weights, stage.network);
    let sum = network.sum(rows);
    let first = sum.map(threshold);
    let second_sum = network.second(&first);
    let second = second_sum.map(threshold);
    let off = network.last(&second) - target;

    let weights = &numbers.weights;
    let mut second_slopes = [0.0; SECOND];
    for at in 0..SECOND {
        second_slopes[at] = off * weights[layout.last + at] * slope(second_sum[at]);
    }
    let mut first_slopes = [0.0; FIRST];
    for at in 0..FIRST {
        let row = &weights[layout.second + at * SECOND..][..SECOND];
        let back: f32 = row.iter().zip(&second_slopes).map(|(w, s)| w * s).sum();
        first_slopes[at] = back * slope(sum[at]);
    }

    let learns = |row| match stage.learns {
        Learns::All => true,
        Learns::Before(first) => usize::from(row) < first,
        Learns::TheRace => is_of_the_race(row),
    };
    if stage.learns != Learns::TheRace {
        let last: Vec<f32> = second.iter().map(|x| off * x).collect();
        numbers.step(layout.last, &last);
        numbers.step(layout.offsets, &second_slopes);
        for (at, first) in first.iter().enumerate() {
            let gradient = second_slopes.map(|slope| slope * first);
            numbers.step(layout.second + at * SECOND, &gradient);
        }
    }
    numbers.step(layout.last + SECOND, &[off]);
    let largest = stage.network.largest();
    for &row in rows.iter().filter(|&&row| learns(row)) {
        let at = usize::from(row) * FIRST;
        numbers.step(at, &first_slopes);
        for weight in &mut numbers.weights[at..at + FIRST] {
            *weight = weight.clamp(-largest, largest);
        }
    }
    off
}

/// What a reader of so many numbers a suit says, with all that it takes to learn.
struct Pass<const OUTPUTS: usize> {
    first_sums: [[f32; reader::FIRST]; 3],
    first: [[f32; reader::FIRST]; 3],
    second_sums: [[f32; reader::SECOND]; 3],
    second: [[f32; reader::SECOND]; 3],
    outputs: [[f32; OUTPUTS]; 3],
}

impl<const OUTPUTS: usize> Pass<OUTPUTS> {
    fn of(weights: &[f32], suits: &[SuitRows; 3]) -> Self {
        use reader::{FIRST, LAST, OFFSETS, SECOND, SECOND_ROWS};
        let first_sums = suits.each_ref().map(|rows| {
            let mut sum = [0.0; FIRST];
            for &row in &**rows {
                let at = usize::from(row) * FIRST;
                for (sum, weight) in sum.iter_mut().zip(&weights[at..at + FIRST]) {
                    *sum += weight;
                }
            }
            sum
        });
        let first = first_sums.map(|sum| sum.map(threshold));
        let second_sums: [[f32; SECOND]; 3] = std::array::from_fn(|suit| {
            let mut sum = [0.0; SECOND];
            sum.copy_from_slice(&weights[OFFSETS..LAST]);
            for (input, row) in inputs(&first, suit)
                .iter()
                .zip(weights[SECOND_ROWS..OFFSETS].chunks_exact(SECOND))
            {
                for (sum, weight) in sum.iter_mut().zip(row) {
                    *sum += input * weight;
                }
            }
            sum
        });
        let second = second_sums.map(|sum| sum.map(threshold));
        let outputs = std::array::from_fn(|suit| {
            let mut outputs = [0.0; OUTPUTS];
            outputs.copy_from_slice(&weights[LAST + SECOND * OUTPUTS..]);
            for (input, row) in second[suit]
                .iter()
                .zip(weights[LAST..].chunks_exact(OUTPUTS))
            {
                for (output, weight) in outputs.iter_mut().zip(row) {
                    *output += input * weight;
                }
            }
            outputs
        });
        Self {
            first_sums,
            first,
            second_sums,
            second,
            outputs,
        }
    }

    /// A step against these slopes of the outputs.
    fn learn(&self, numbers: &mut Numbers, suits: &[SuitRows; 3], slopes: &[[f32; OUTPUTS]; 3]) {
        use reader::{FIRST, LAST, OFFSETS, SECOND, SECOND_ROWS};
        let mut last = vec![0.0; (SECOND + 1) * OUTPUTS];
        let mut layer = vec![0.0; 2 * FIRST * SECOND];
        let mut offsets = [0.0; SECOND];
        let mut first_slopes = [[0.0; FIRST]; 3];
        for suit in 0..3 {
            let mut second_slopes = [0.0; SECOND];
            let rows = numbers.weights[LAST..].chunks_exact(OUTPUTS);
            for (at, row) in rows.take(SECOND).enumerate() {
                let back: f32 = row.iter().zip(&slopes[suit]).map(|(w, s)| w * s).sum();
                second_slopes[at] = back * slope(self.second_sums[suit][at]);
                for (sum, slope) in last[at * OUTPUTS..].iter_mut().zip(&slopes[suit]) {
                    *sum += self.second[suit][at] * slope;
                }
            }
            for (sum, slope) in last[SECOND * OUTPUTS..].iter_mut().zip(&slopes[suit]) {
                *sum += slope;
            }
            for (sum, slope) in offsets.iter_mut().zip(&second_slopes) {
                *sum += slope;
            }
            let [one, other] = [(suit + 1) % 3, (suit + 2) % 3];
            let rows = numbers.weights[SECOND_ROWS..OFFSETS].chunks_exact(SECOND);
            let gradients = layer.chunks_exact_mut(SECOND);
            let inputs = inputs(&self.first, suit);
            for (at, ((row, gradient), input)) in rows.zip(gradients).zip(&inputs).enumerate() {
                let back: f32 = row.iter().zip(&second_slopes).map(|(w, s)| w * s).sum();
                for (sum, slope) in gradient.iter_mut().zip(&second_slopes) {
                    *sum += input * slope;
                }
                if at < FIRST {
                    first_slopes[suit][at] += back;
                } else {
                    first_slopes[one][at - FIRST] += back;
                    first_slopes[other][at - FIRST] += back;
                }
            }
        }
        numbers.step(LAST, &last);
        numbers.step(OFFSETS, &offsets);
        numbers.step(SECOND_ROWS, &layer);
        for suit in 0..3 {
            let mut slopes = first_slopes[suit];
            for (slope_here, &sum) in slopes.iter_mut().zip(&self.first_sums[suit]) {
                *slope_here *= slope(sum);
            }
            for &row in &*suits[suit] {
                numbers.step(usize::from(row) * FIRST, &slopes);
            }
        }
    }
}

/// What the second layer of a reader sees of a suit: the first layer there, and the sum of the other
/// two suits.
fn inputs(first: &[[f32; reader::FIRST]; 3], suit: usize) -> [f32; 2 * reader::FIRST] {
    let [one, other] = [(suit + 1) % 3, (suit + 2) % 3];
    std::array::from_fn(|at| match at.checked_sub(reader::FIRST) {
        None => first[suit][at],
        Some(at) => first[one][at] + first[other][at],
    })
}
