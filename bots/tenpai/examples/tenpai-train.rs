//! Learns the weights of the engine from rounds that it plays, and writes the same file each time: first
//! against an opponent that discards any unseen tile and never wins, as `simple` does, then against
//! one that discards and wins as `shanten` does, whose habits are learned at the same time.
//!
//! What is learned is kept in a folder every minute; a run that was stopped continues there.

#[path = "shanten/player.rs"]
mod shanten;

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::ExitCode,
    time::{Duration, Instant},
};

use clap::Parser;
use rand::{Rng, RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use tenpai::{
    Hand, Tile, Valued, Weights, faan,
    features::{Chances, PRESSED, Rows, Suits},
    network::{FIRST, LAST, OFFSETS, SECOND, SECOND_ROWS, UNIT, WEIGHTS, threshold},
    opponent::{
        CLASSES, Discards, HOLDINGS, Habits, READ, READINGS, Racer, Reading, TURNS, class, holding,
        turn,
    },
};

use shanten::{Other, referee};

/// Learns the weights of the engine.
#[derive(Parser)]
struct Arguments {
    /// The folder for what is learned so far; a run that was stopped continues there
    folder: PathBuf,
    /// The file of weights
    out: PathBuf,
    /// Write the file of weights with what the folder has, learn nothing
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
}

/// A part of the learning.
struct Stage {
    name: &'static str,
    opponent: Kind,
    /// The stage whose network it begins with, and whose habits.
    from: Option<&'static str>,
    rounds: u64,
    /// What its rounds are drawn from.
    seed: u64,
    /// The step at the beginning and at the end; where it is 0, the network stays as it is, and what
    /// the other seat discards is learned.
    rates: [f32; 2],
    /// How much of the final score counts, against the later estimates of the network.
    lambda: f32,
    /// How often a discard is drawn at random among the best three.
    explore: f64,
    /// The points of a faan, 3 by the rules.
    pay: f32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Passive,
    Racing,
}

/// With the true score the engine learns fast, small hands and stays with them; it finds the large
/// ones if it begins with many points for a faan.
const STAGES: [Stage; 5] = [
    Stage {
        name: "large",
        opponent: Kind::Passive,
        from: None,
        rounds: 200_000,
        seed: 71,
        rates: [0.0003, 0.0001],
        lambda: 0.85,
        explore: 0.03,
        pay: 30.0,
    },
    Stage {
        name: "passive",
        opponent: Kind::Passive,
        from: Some("large"),
        rounds: 1_500_000,
        seed: 72,
        rates: [0.0001, 0.000_002],
        lambda: 0.75,
        explore: 0.007,
        pay: 3.0,
    },
    Stage {
        name: "race",
        opponent: Kind::Racing,
        from: None,
        rounds: 400_000,
        seed: 81,
        rates: [0.0003, 0.0001],
        lambda: 0.8,
        explore: 0.01,
        pay: 3.0,
    },
    Stage {
        name: "racing",
        opponent: Kind::Racing,
        from: Some("race"),
        rounds: 500_000,
        seed: 82,
        rates: [0.0001, 0.000_002],
        lambda: 0.6,
        explore: 0.007,
        pay: 3.0,
    },
    Stage {
        name: "habits",
        opponent: Kind::Racing,
        from: Some("racing"),
        rounds: 100_000,
        seed: 83,
        rates: [0.0, 0.0],
        lambda: 0.6,
        explore: 0.007,
        pay: 3.0,
    },
];

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
    referee_games::mahjong::prepare();
    for stage in &STAGES {
        if arguments
            .only
            .as_deref()
            .is_some_and(|only| only != stage.name)
        {
            continue;
        }
        if let Some(rounds) = arguments.play {
            let mut progress = Progress::open(&arguments.folder, stage)?;
            progress.rng = ChaCha8Rng::seed_from_u64(arguments.seed);
            let mut sums = Sums::default();
            for round in 0..rounds {
                sums.add(&progress.round(stage, round, 0.0));
            }
            println!("{}: {sums}", stage.name);
        } else if !arguments.now {
            learn(&arguments.folder, stage)?;
        }
    }
    if arguments.play.is_some() || arguments.only.is_some() {
        return Ok(());
    }
    let learned = |name| -> io::Result<Progress> {
        let stage = STAGES.iter().find(|stage| stage.name == name);
        Progress::open(&arguments.folder, stage.expect("one of the stages"))
    };
    let (passive, racing) = (learned("passive")?, learned("habits")?);
    let networks = [&passive, &racing].map(|it| it.learner.network.0.as_slice());
    let bytes = Weights::to_bytes(networks[0], networks[1], &racing.counts.habits);
    fs::write(&arguments.out, bytes)
}

/// Learns a stage to its end.
fn learn(folder: &Path, stage: &Stage) -> io::Result<()> {
    let mut progress = Progress::open(folder, stage)?;
    let began = Instant::now();
    let mut kept = began;
    let mut sums = Sums::default();
    while progress.rounds < stage.rounds {
        let round = progress.rounds;
        let done = round as f32 / stage.rounds as f32;
        progress.learner.rate = stage.rates[0] * (stage.rates[1] / stage.rates[0]).powf(done);
        if round.is_multiple_of(1000) {
            progress.counts.settle();
        }
        let played = progress.round(stage, round, stage.explore);
        sums.add(&played);
        let is_fixed = stage.rates[0] == 0.0;
        for (rows, target) in played.targets(stage.lambda) {
            if is_fixed {
                break;
            }
            let off = f64::from(progress.learner.learn(&rows, target / UNIT) * UNIT);
            sums.error += off * off;
            sums.samples += 1.0;
        }
        progress.rounds += 1;
        if kept.elapsed() > KEEP || progress.rounds == stage.rounds {
            kept = Instant::now();
            let seconds = began.elapsed().as_secs_f64();
            println!(
                "{}: {} rounds, {seconds:.0} s: {sums}",
                stage.name, progress.rounds
            );
            sums = Sums::default();
            progress.keep(&file(folder, stage.name))?;
        }
    }
    Ok(())
}

fn file(folder: &Path, stage: &str) -> PathBuf {
    folder.join(format!("{stage}.learned"))
}

/// All that a stage has so far.
struct Progress {
    rounds: u64,
    rng: ChaCha8Rng,
    learner: Learner,
    counts: Counts,
}

impl Progress {
    /// What the folder has of this stage, or its beginning.
    fn open(folder: &Path, stage: &Stage) -> io::Result<Self> {
        let mut rng = ChaCha8Rng::seed_from_u64(stage.seed);
        let file_here = file(folder, stage.name);
        if file_here.exists() {
            let mut progress = Self::read(&file_here, rng)?;
            progress.learner.rate = stage.rates[0];
            return Ok(progress);
        }
        let mut counts = Counts::new();
        let network = match stage.from {
            Some(name) => {
                let from = Self::read(&file(folder, name), rng.clone())?;
                counts = from.counts;
                from.learner.network.0
            }
            None => random(&mut rng),
        };
        Ok(Self {
            rounds: 0,
            rng,
            learner: Learner::new(network),
            counts,
        })
    }

    fn read(file: &Path, mut rng: ChaCha8Rng) -> io::Result<Self> {
        let bytes = fs::read(file)?;
        let numbers = 2 * WEIGHTS + Counts::NUMBERS;
        if bytes.len() != 24 + 4 * numbers {
            let text = format!("{}: not a file of this program", file.display());
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        }
        let (head, rest) = bytes.split_at(24);
        let (rounds, place) = head.split_at(8);
        rng.set_word_pos(u128::from_le_bytes(place.try_into().expect("16 bytes")));
        let fours = rest.chunks_exact(4);
        let mut numbers =
            fours.map(|four| f32::from_le_bytes(four.try_into().expect("four bytes")));
        let mut learner = Learner::new(numbers.by_ref().take(WEIGHTS).collect());
        learner.squares = numbers.by_ref().take(WEIGHTS).collect();
        let mut counts = Counts::new();
        for list in counts.lists() {
            list.iter_mut()
                .zip(numbers.by_ref())
                .for_each(|(old, new)| *old = new);
        }
        Ok(Self {
            rounds: u64::from_le_bytes(rounds.try_into().expect("8 bytes")),
            rng,
            learner,
            counts,
        })
    }

    /// Writes it in such a way that the file is whole at any moment.
    fn keep(&mut self, file: &Path) -> io::Result<()> {
        let mut bytes = self.rounds.to_le_bytes().to_vec();
        bytes.extend(self.rng.get_word_pos().to_le_bytes());
        let lists = [&mut self.learner.network.0, &mut self.learner.squares];
        for list in lists.into_iter().chain(self.counts.lists()) {
            bytes.extend(list.iter().copied().flat_map(f32::to_le_bytes));
        }
        let part = file.with_extension("part");
        fs::write(&part, bytes)?;
        fs::rename(part, file)
    }

    fn round(&mut self, stage: &Stage, round: u64, explore: f64) -> Played {
        let mut table = Table {
            network: &self.learner.network,
            explore,
            rng: &mut self.rng,
            counts: &mut self.counts,
            learns_throws: stage.rates[0] == 0.0,
            pay: stage.pay,
        };
        table.round(
            stage.opponent,
            Seat(stage.opponent == Kind::Racing && round % 2 == 1),
        )
    }
}

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
    fn add(&mut self, played: &Played) {
        let score = f64::from(played.score);
        self.rounds += 1.0;
        self.score += score;
        self.squares += score * score;
        if score > 0.0 {
            self.wins += 1.0;
            self.left += f64::from(played.left);
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
struct Net(Vec<f32>);

impl Net {
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
        second.copy_from_slice(&self.0[OFFSETS..LAST]);
        let layer = &self.0[SECOND_ROWS..OFFSETS];
        for (first, row) in first.iter().zip(layer.chunks_exact(SECOND)) {
            for (sum, weight) in second.iter_mut().zip(row) {
                *sum += first * weight;
            }
        }
        second
    }

    fn last(&self, second: &[f32; SECOND]) -> f32 {
        let layer = &self.0[LAST..];
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
            let value = self.value(&suits.rows(left, racer.map(|it| it.pressure)));
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

/// Small weights by chance; none for the rows that only a network against a racing opponent has.
fn random(rng: &mut impl Rng) -> Vec<f32> {
    let mut weights = vec![0.0; WEIGHTS];
    for (at, weight) in weights.iter_mut().enumerate() {
        let width = match at {
            _ if (PRESSED * FIRST..SECOND_ROWS).contains(&at) => continue,
            _ if at < SECOND_ROWS => 0.05,
            _ if at < OFFSETS => 0.25,
            _ if at < LAST => 0.0,
            _ => 0.25,
        };
        *weight = width * (2.0 * rng.random::<f32>() - 1.0);
    }
    weights
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
    /// The rows of each hand that was kept, and what it was worth in the end.
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

/// What racing opponents did, and what is learned from it.
struct Counts {
    discards: Vec<f32>,
    expected: Vec<f32>,
    held: Vec<f32>,
    unseen: Vec<f32>,
    wins: Vec<f32>,
    points: Vec<f32>,
    /// By row of a reading: the sum of its squared gradients.
    squares: Vec<f32>,
    habits: Habits,
    /// The squared gradients of what it discards.
    throw_squares: Vec<f32>,
}

impl Counts {
    const NUMBERS: usize = 2 * CLASSES + 2 * HOLDINGS + 2 * TURNS + 2 * READINGS + Habits::NUMBERS;

    fn new() -> Self {
        Self {
            discards: vec![0.0; CLASSES],
            expected: vec![0.0; CLASSES],
            held: vec![0.0; HOLDINGS],
            unseen: vec![0.0; HOLDINGS],
            wins: vec![0.0; TURNS],
            points: vec![0.0; TURNS],
            squares: vec![0.0; READINGS],
            habits: Habits::unknown(),
            throw_squares: vec![0.0; READINGS],
        }
    }

    /// All numbers.
    fn lists(&mut self) -> [&mut Vec<f32>; 13] {
        let Habits {
            likelihood,
            throws,
            danger,
            held,
            loss,
        } = &mut self.habits;
        [
            &mut self.discards,
            &mut self.expected,
            &mut self.held,
            &mut self.unseen,
            &mut self.wins,
            &mut self.points,
            &mut self.squares,
            likelihood,
            danger,
            held,
            loss,
            throws,
            &mut self.throw_squares,
        ]
    }

    /// Works the habits out from what was counted.
    fn settle(&mut self) {
        for at in 0..CLASSES {
            let ratio = (self.discards[at] + 3.0) / (self.expected[at] + 3.0);
            self.habits.likelihood[at] = ratio.ln();
        }
        for at in 0..HOLDINGS {
            self.habits.held[at] = (self.held[at] + 2.0) / (self.unseen[at] + 10.0);
        }
        for at in 0..TURNS {
            self.habits.loss[at] = (self.points[at] + 50.0) / (self.wins[at] + 1.0);
        }
    }

    /// What the other seat holds, and with which tiles it wins.
    fn look(&mut self, other: &Other, own: &[Tile], hand: &Hand, unseen: &Hand) {
        for suit in 0..3 {
            let class = holding(&other.river, suit);
            let tiles = || Tile::all().skip(9 * suit).take(9);
            let held = |tile: Tile| f32::from(other.hand.count(referee(tile)));
            self.held[class] += tiles().map(held).sum::<f32>();
            let count = |tile: Tile| f32::from(unseen.count(tile));
            self.unseen[class] += tiles().map(count).sum::<f32>();
        }
        let reading = Reading::of(own, &other.river, unseen);
        for tile in Tile::all() {
            if hand.count(tile) + unseen.count(tile) > 0 {
                self.learn(&reading.rows(tile), other.wins(tile).is_some());
            }
        }
    }

    /// The other seat discards: a step of a softmax over all kinds, by Adagrad.
    fn throw(&mut self, own: &[Tile], other: &[Tile], discard: Tile) {
        let discards = Discards::of(&self.habits, own, other);
        for tile in Tile::all() {
            let Some(rows) = discards.rows[tile.index()] else {
                continue;
            };
            let thrown = f32::from(u8::from(tile == discard));
            let gradient = discards.chances[tile.index()] - thrown;
            for row in rows.map(usize::from) {
                self.throw_squares[row] += gradient * gradient;
                self.habits.throws[row] -= 0.1 * gradient / (self.throw_squares[row].sqrt() + 1.0);
            }
        }
    }

    /// A step of a logistic regression, by Adagrad.
    fn learn(&mut self, rows: &[u16; READ], wins: bool) {
        let gradient = self.habits.chance(rows) - f32::from(u8::from(wins));
        for row in rows.map(usize::from) {
            self.squares[row] += gradient * gradient;
            self.habits.danger[row] -= 0.1 * gradient / (self.squares[row].sqrt() + 1.0);
        }
    }
}

/// Whether the engine is the second seat.
#[derive(Clone, Copy)]
struct Seat(bool);

/// Where rounds are played.
struct Table<'a, R> {
    network: &'a Net,
    explore: f64,
    rng: &'a mut R,
    counts: &'a mut Counts,
    learns_throws: bool,
    pay: f32,
}

impl<R: Rng> Table<'_, R> {
    fn round(&mut self, opponent: Kind, seat: Seat) -> Played {
        let mut tiles: Vec<Tile> = Tile::all().flat_map(|tile| [tile; 4]).collect();
        for at in (1..tiles.len()).rev() {
            tiles.swap(at, self.rng.random_range(0..=at));
        }
        let mut hand: Hand = tiles.split_off(tiles.len() - 13).into_iter().collect();
        let mut unseen: Hand = tiles.iter().copied().collect();
        let mut other = None;
        if opponent == Kind::Racing {
            let dealt = tiles.split_off(tiles.len() - 13);
            other = Some(Other::new(&dealt));
        }
        let mut own_river = Vec::new();
        let mut racer = None;
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
                    self.counts.look(other, &own_river, &hand, &unseen);
                    let habits = &self.counts.habits;
                    racer = Some(Racer::of(habits, &own_river, &other.river, &unseen));
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
                let pressure = racer.as_ref().map(|it| it.pressure);
                let suits = Suits::of(&hand, &unseen, chances(racer.as_ref()));
                let step = Step {
                    rows: suits.rows(left, pressure),
                    best: top.value,
                    explored: chosen.tile != top.tile,
                };
                if let Some(other) = &mut other {
                    if other.wins(chosen.tile).is_some() {
                        let score = -other.score(chosen.tile, left);
                        self.lost(other, score);
                        // What the hand would have been worth remains unknown.
                        return Played { score, left, steps };
                    }
                    other.unseen = other.unseen.without(chosen.tile);
                }
                steps.push(step);
            } else {
                let discard = match &mut other {
                    None => tile,
                    Some(other) => {
                        if other.wins(tile).is_some() {
                            let score = -other.score(tile, left);
                            self.lost(other, score);
                            return Played { score, left, steps };
                        }
                        let discard = other.discard(tile);
                        let total = unseen.len() as f32;
                        for tile in unseen.kinds() {
                            self.counts.expected[class(&other.river, tile)] +=
                                f32::from(unseen.count(tile)) / total;
                        }
                        self.counts.discards[class(&other.river, discard)] += 1.0;
                        if self.learns_throws {
                            self.counts.throw(&own_river, &other.river, discard);
                        }
                        other.river.push(discard);
                        discard
                    }
                };
                unseen = unseen.without(discard);
                if let Some(score) = self.score(&hand.with(discard), left) {
                    let wait = if left == 0 {
                        0.0
                    } else {
                        let suits = Suits::of(&hand, &unseen, chances(racer.as_ref()));
                        let pressure = racer.as_ref().map(|it| it.pressure);
                        self.network.value(&suits.rows(left - 1, pressure))
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

    fn lost(&mut self, other: &Other, score: f32) {
        let turn = turn(other.river.len());
        self.counts.wins[turn] += 1.0;
        self.counts.points[turn] -= score;
    }
}

/// The part of a gradient in the mean of the past ones.
const KEPT: f32 = 0.001;

/// Gradient descent with a step for each weight in units of its past gradients (RMSProp).
struct Learner {
    network: Net,
    squares: Vec<f32>,
    rate: f32,
}

impl Learner {
    fn new(weights: Vec<f32>) -> Self {
        assert_eq!(weights.len(), WEIGHTS, "the weights of a network");
        Self {
            network: Net(weights),
            squares: vec![1e-2; WEIGHTS],
            rate: 0.0,
        }
    }

    /// Moves the output for these rows towards the target, and returns how far it was off.
    fn learn(&mut self, rows: &[u16], target: f32) -> f32 {
        let sum = self.network.sum(rows);
        let first = sum.map(threshold);
        let second_sum = self.network.second(&first);
        let second = second_sum.map(threshold);
        let off = self.network.last(&second) - target;
        let slope = |x: f32| if x > 0.0 { 1.0 } else { 0.01 };

        let weights = &self.network.0;
        let mut second_slopes = [0.0; SECOND];
        for at in 0..SECOND {
            second_slopes[at] = off * weights[LAST + at] * slope(second_sum[at]);
        }
        let mut first_slopes = [0.0; FIRST];
        for at in 0..FIRST {
            let row = &weights[SECOND_ROWS + at * SECOND..][..SECOND];
            let back: f32 = row.iter().zip(&second_slopes).map(|(w, s)| w * s).sum();
            first_slopes[at] = back * slope(sum[at]);
        }

        let last: Vec<f32> = second.iter().map(|x| off * x).chain([off]).collect();
        self.step(LAST, &last);
        self.step(OFFSETS, &second_slopes);
        for (at, first) in first.iter().enumerate() {
            let gradient = second_slopes.map(|slope| slope * first);
            self.step(SECOND_ROWS + at * SECOND, &gradient);
        }
        for &row in rows {
            self.step(usize::from(row) * FIRST, &first_slopes);
        }
        off
    }

    fn step(&mut self, at: usize, gradient: &[f32]) {
        let weights = &mut self.network.0[at..at + gradient.len()];
        let squares = &mut self.squares[at..at + gradient.len()];
        for ((weight, square), gradient) in weights.iter_mut().zip(squares).zip(gradient) {
            *square += KEPT * (gradient * gradient - *square);
            *weight -= self.rate * gradient / (square.sqrt() + 1e-4);
        }
    }
}
