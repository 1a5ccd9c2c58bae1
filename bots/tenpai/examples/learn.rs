//! Learns the weights of the engine from rounds that it plays against an opponent: `passive` discards
//! any unseen tile and never wins, as `simple` does; `racing` discards and wins as `shanten` does, and
//! its habits are counted; `hazard` discards any unseen tile and wins as often as the habits say.
//!
//! `learn play` writes numbers of four bytes, `learn pack` makes the file of weights from them.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::ExitCode,
    time::{Duration, Instant},
};

use clap::{Parser, Subcommand, ValueEnum};
use rand::{Rng, RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use referee_games::mahjong::{Goal, Hand as RefereeHand, MissingSuit, Tile as RefereeTile};
use tenpai::{
    Hand, Tile, Valued, Weights, faan,
    features::{Rows, Suits},
    network::{FIRST, LAST, OFFSETS, SECOND, SECOND_ROWS, UNIT, WEIGHTS, threshold},
    opponent::{CLASSES, Habits, TURNS, class, turn},
};

/// Learns the weights of the engine.
#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Learns a network
    Play(Play),
    /// Puts two networks and the habits into the file of weights
    Pack {
        /// The network against a passive opponent
        passive: PathBuf,
        /// The network against a racing opponent
        racing: PathBuf,
        /// The habits of a racing opponent
        habits: PathBuf,
        /// The file of weights
        out: PathBuf,
    },
}

#[derive(clap::Args)]
struct Play {
    /// The opponent
    opponent: Kind,
    /// Where the network is written, and a racing opponent's habits as FILE.habits
    out: PathBuf,
    /// The network to begin with
    #[arg(long)]
    from: Option<PathBuf>,
    /// How many rounds are played
    #[arg(long, default_value_t = 100_000)]
    rounds: u64,
    /// What rounds are drawn from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The step at the beginning
    #[arg(long, default_value_t = 0.0002)]
    rate: f32,
    /// The step at the end
    #[arg(long, default_value_t = 0.00002)]
    last_rate: f32,
    /// How much of the final score counts, against the later estimates of the network
    #[arg(long, default_value_t = 0.7)]
    lambda: f32,
    /// How often a discard is drawn at random among the best three
    #[arg(long, default_value_t = 0.015)]
    explore: f64,
    /// The habits of a racing opponent, for the hazard
    #[arg(long)]
    habits: Option<PathBuf>,
    /// The points of a faan, 3 by the rules
    #[arg(long, default_value_t = 3.0)]
    pay: f32,
    /// Only play, learn nothing
    #[arg(long)]
    fixed: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    Passive,
    Racing,
    Hazard,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done = match arguments.what {
        What::Play(arguments) => play(&arguments),
        What::Pack {
            passive,
            racing,
            habits,
            out,
        } => pack(&passive, &racing, &habits, &out),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn read(file: &Path) -> io::Result<Vec<f32>> {
    let bytes = fs::read(file)?;
    let fours = bytes.chunks_exact(4);
    Ok(fours
        .map(|four| f32::from_le_bytes(four.try_into().expect("four bytes")))
        .collect())
}

fn write(file: &Path, numbers: impl Iterator<Item = f32>) -> io::Result<()> {
    let bytes: Vec<u8> = numbers.flat_map(f32::to_le_bytes).collect();
    fs::write(file, bytes)
}

fn habits_file(file: &Path) -> PathBuf {
    file.with_extension("habits")
}

fn pack(passive: &Path, racing: &Path, habits: &Path, out: &Path) -> io::Result<()> {
    let (habits, _) = read_habits(habits)?;
    let bytes = Weights::to_bytes(&read(passive)?, &read(racing)?, &habits);
    fs::write(out, bytes)
}

/// The habits, and by turn the chance that a discard is claimed.
fn read_habits(file: &Path) -> io::Result<(Habits, Vec<f32>)> {
    let mut numbers = read(file)?.into_iter();
    let mut take = |count: usize| -> Vec<f32> { numbers.by_ref().take(count).collect() };
    let habits = Habits {
        likelihood: take(CLASSES),
        danger: take(CLASSES),
        self_draw: take(TURNS),
        loss: take(TURNS),
    };
    Ok((habits, take(TURNS)))
}

fn play(arguments: &Play) -> io::Result<()> {
    referee_games::mahjong::prepare();
    let mut rng = ChaCha8Rng::seed_from_u64(arguments.seed);
    let mut learner = match &arguments.from {
        Some(file) => Learner::new(read(file)?),
        None => Learner::new(random(&mut rng)),
    };
    let mut counts = Counts::new();
    if let Some(file) = &arguments.habits {
        (counts.habits, counts.claimed) = read_habits(file)?;
    }
    let began = Instant::now();
    let mut told = Duration::ZERO;
    let mut sums = Sums::default();
    for round in 0..arguments.rounds {
        let done = round as f32 / arguments.rounds as f32;
        learner.rate = arguments.rate * (arguments.last_rate / arguments.rate).powf(done);
        if arguments.opponent == Kind::Racing && round % 1000 == 0 {
            counts.settle();
        }
        let explore = if arguments.fixed {
            0.0
        } else {
            arguments.explore
        };
        let mut table = Table {
            network: &learner.network,
            explore,
            rng: &mut rng,
            counts: &mut counts,
            pay: arguments.pay,
        };
        let played = table.round(
            arguments.opponent,
            Seat(arguments.opponent != Kind::Passive && round % 2 == 1),
        );
        sums.add(&played);
        if !arguments.fixed {
            for (rows, target) in played.targets(arguments.lambda) {
                let off = f64::from(learner.learn(&rows, target / UNIT) * UNIT);
                sums.error += off * off;
                sums.samples += 1.0;
            }
        }
        if began.elapsed() > told + Duration::from_secs(30) || round + 1 == arguments.rounds {
            told = began.elapsed();
            println!("{} rounds, {:.0} s: {sums}", round + 1, told.as_secs_f64());
            if !arguments.fixed {
                sums = Sums::default();
                write(&arguments.out, learner.network.0.iter().copied())?;
            }
            if arguments.opponent == Kind::Racing {
                counts.settle();
                let Habits {
                    likelihood,
                    danger,
                    self_draw,
                    loss,
                } = &counts.habits;
                let all = [likelihood, danger, self_draw, loss, &counts.claimed];
                let numbers = all.into_iter().flatten().copied();
                write(&habits_file(&arguments.out), numbers)?;
            }
        }
    }
    Ok(())
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
    fn sum(&self, rows: &Rows) -> [f32; FIRST] {
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

    fn value(&self, rows: &Rows) -> f32 {
        let first = self.sum(rows).map(threshold);
        let second = self.second(&first).map(threshold);
        UNIT * self.last(&second)
    }

    fn discards(&self, hand: &Hand, unseen: &Hand, left: u8) -> Vec<Valued> {
        let all = Suits::of(hand, unseen);
        let valued = hand.kinds().map(|tile| {
            let suits = all.without(tile, unseen);
            let value = self.value(&suits.rows(left));
            Valued { tile, value }
        });
        valued.collect()
    }
}

/// Small weights by chance.
fn random(rng: &mut impl Rng) -> Vec<f32> {
    let mut weights = vec![0.0; WEIGHTS];
    for (at, weight) in weights.iter_mut().enumerate() {
        let width = match at {
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
    /// The chances that the other seat claims this discard and that it wins with its next draw, and
    /// the points of that.
    hazard: [f32; 3],
}

impl Played {
    /// The rows of each hand that was kept, and what it was worth in the end.
    fn targets(self, lambda: f32) -> Vec<(Rows, f32)> {
        let mut target = self.score;
        let mut targets = Vec::with_capacity(self.steps.len());
        for step in self.steps.iter().rev() {
            let [claim, self_draw, loss] = step.hazard;
            target = (1.0 - self_draw) * target - self_draw * loss;
            targets.push((step.rows, target));
            // The best value allows for a claim already.
            target = (1.0 - claim) * target - claim * loss;
            target = if step.explored {
                step.best
            } else {
                lambda * target + (1.0 - lambda) * step.best
            };
        }
        targets
    }
}

/// What racing opponents did.
struct Counts {
    discards: Vec<f32>,
    expected: Vec<f32>,
    asked: Vec<f32>,
    dangerous: Vec<f32>,
    draws: Vec<f32>,
    self_draws: Vec<f32>,
    wins: Vec<f32>,
    points: Vec<f32>,
    habits: Habits,
    /// By turn: the chance that a discard is claimed.
    claimed: Vec<f32>,
}

impl Counts {
    fn new() -> Self {
        Self {
            discards: vec![0.0; CLASSES],
            expected: vec![0.0; CLASSES],
            asked: vec![0.0; CLASSES],
            dangerous: vec![0.0; CLASSES],
            draws: vec![0.0; TURNS],
            self_draws: vec![0.0; TURNS],
            wins: vec![0.0; TURNS],
            points: vec![0.0; TURNS],
            habits: Habits::unknown(),
            claimed: vec![0.0; TURNS],
        }
    }

    /// The hazard of a discard when the other seat has made so many.
    fn hazard(&self, discards: usize) -> [f32; 3] {
        let turn = turn(discards);
        [
            self.claimed[turn],
            self.habits.self_draw[turn],
            self.habits.loss[turn],
        ]
    }

    fn settle(&mut self) {
        for at in 0..CLASSES {
            let ratio = (self.discards[at] + 3.0) / (self.expected[at] + 3.0);
            self.habits.likelihood[at] = ratio.ln();
            self.habits.danger[at] = (self.dangerous[at] + 0.3) / (self.asked[at] + 20.0);
        }
        for at in 0..TURNS {
            self.habits.self_draw[at] = self.self_draws[at] / (self.draws[at] + 1.0);
            self.habits.loss[at] = self.points[at] / (self.wins[at] + 1.0);
            self.claimed[at] = (self.wins[at] - self.self_draws[at]) / (self.draws[at] + 1.0);
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
    pay: f32,
}

/// What the other seat holds.
struct Other {
    hand: RefereeHand,
    river: Vec<Tile>,
    /// What it has not seen.
    unseen: Hand,
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
        let mut left = 82;
        let mut steps = Vec::new();
        let mut discarded = 0;
        let is_first = !seat.0;
        for own in (0..82).map(|turn| (turn % 2 == 0) == is_first) {
            left -= 1;
            let tile = tiles.pop().expect("tiles are left");
            if own {
                unseen = unseen.without(tile);
                hand = hand.with(tile);
                let mut valued = self.network.discards(&hand, &unseen, left);
                if let Some(other) = &other {
                    for one in &mut valued {
                        self.ask(other, one);
                    }
                }
                let mut hazard = [0.0; 3];
                if opponent == Kind::Hazard {
                    hazard = self.counts.hazard(discarded);
                    let [claim, _, loss] = hazard;
                    for one in &mut valued {
                        one.value = (1.0 - claim) * one.value - claim * loss;
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
                let step = Step {
                    rows: Suits::of(&hand, &unseen).rows(left),
                    best: top.value,
                    explored: chosen.tile != top.tile,
                    hazard,
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
                        let turn = turn(other.river.len());
                        self.counts.draws[turn] += 1.0;
                        if other.wins(tile).is_some() {
                            self.counts.self_draws[turn] += 1.0;
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
                        other.river.push(discard);
                        discard
                    }
                };
                unseen = unseen.without(discard);
                discarded += 1;
                if let Some(score) = self.score(&hand.with(discard), left) {
                    let wait = if left == 0 {
                        0.0
                    } else {
                        self.network
                            .value(&Suits::of(&hand, &unseen).rows(left - 1))
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

    /// Counts whether a tile is dangerous, and takes what it may cost from its value.
    fn ask(&mut self, other: &Other, valued: &mut Valued) {
        let class = class(&other.river, valued.tile);
        self.counts.asked[class] += 1.0;
        self.counts.dangerous[class] += f32::from(other.wins(valued.tile).is_some());
        let danger = self.counts.habits.danger[class];
        let loss = self.counts.habits.loss[turn(other.river.len())];
        valued.value = (1.0 - danger) * valued.value - danger * loss;
    }

    fn lost(&mut self, other: &Other, score: f32) {
        let turn = turn(other.river.len());
        self.counts.wins[turn] += 1.0;
        self.counts.points[turn] -= score;
    }
}

fn referee(tile: Tile) -> RefereeTile {
    RefereeTile::all()
        .nth(tile.index())
        .expect("both have the same tiles")
}

impl Other {
    fn new(dealt: &[Tile]) -> Self {
        let tiles: Vec<RefereeTile> = dealt.iter().map(|&tile| referee(tile)).collect();
        Self {
            hand: RefereeHand::of(&tiles).expect("13 tiles"),
            river: Vec::new(),
            unseen: dealt.iter().copied().fold(Hand::FULL, Hand::without),
        }
    }

    fn wins(&self, tile: Tile) -> Option<u32> {
        let tile = referee(tile);
        let has_room = self.hand.has_room(tile);
        has_room
            .then(|| referee_games::mahjong::faan(&self.hand.with(tile), MissingSuit::Required))
            .flatten()
    }

    fn score(&self, tile: Tile, left: u8) -> f32 {
        (3 * self.wins(tile).unwrap_or(0) + u32::from(left)) as f32
    }

    /// Discards as `shanten` does.
    fn discard(&mut self, drawn: Tile) -> Tile {
        self.unseen = self.unseen.without(drawn);
        let goal = Goal::new(MissingSuit::Required);
        let hand = self.hand.with(referee(drawn));
        let distances: Vec<(RefereeTile, i8)> = hand
            .kinds()
            .map(|tile| (tile, goal.distance(&hand.without(tile))))
            .collect();
        let nearest = distances.iter().map(|one| one.1).min();
        let tile = distances
            .into_iter()
            .filter(|one| Some(one.1) == nearest)
            .map(|one| one.0)
            .max_by_key(|&tile| {
                let accepted = goal.accepts(&hand.without(tile));
                let copies = accepted.iter().map(|tile| {
                    let tile = Tile::new(tile.index()).expect("both have the same tiles");
                    u32::from(self.unseen.count(tile))
                });
                copies.sum::<u32>()
            })
            .expect("a hand has tiles");
        self.hand = hand.without(tile);
        Tile::new(tile.index()).expect("both have the same tiles")
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
    fn learn(&mut self, rows: &Rows, target: f32) -> f32 {
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
