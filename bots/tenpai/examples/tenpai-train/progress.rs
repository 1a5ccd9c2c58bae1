//! The progress of a stage: what it has learned so far, how it goes on, and how it is kept.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;
use tenpai::{
    MahjongEngine, NetworkWeights,
    network::{Layout, PassiveNetwork, RacingNetwork, UNIT, WideNetwork},
    shuffle,
};

use crate::{
    Arguments,
    network::{Net, Numbers, Steps, learn_value},
    opponent::Opponent,
    stage::{Kind, Stage, Targets, named},
    sums::Sums,
    table::{Played, Seat, Table},
    teacher::{Lesson, Teacher},
};

/// Otherwise a run that was stopped continues after a multiple of so many rounds.
const BATCH: u64 = 1000;
/// Time after which the progress is kept again.
const KEEP: Duration = Duration::from_mins(1);

pub(crate) type PassiveProgress = Progress<{ PassiveNetwork::FIRST }, { PassiveNetwork::SECOND }>;
pub(crate) type RacingProgress = Progress<{ RacingNetwork::FIRST }, { RacingNetwork::SECOND }>;
pub(crate) type WideProgress = Progress<{ WideNetwork::FIRST }, { WideNetwork::SECOND }>;

fn file(folder: &Path, stage: &str) -> PathBuf {
    folder.join(format!("{stage}.learned"))
}

/// All that a stage has so far, with layers of these widths.
pub(crate) struct Progress<const FIRST: usize, const SECOND: usize> {
    rounds: u64,
    rng: ChaCha8Rng,
    pub(crate) network: Numbers,
    opponent: Opponent,
}

impl<const FIRST: usize, const SECOND: usize> Progress<FIRST, SECOND> {
    pub(crate) fn run(arguments: &Arguments, stage: &Stage) -> io::Result<()> {
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

    /// The progress of this stage in the folder, or its beginning.
    pub(crate) fn open(folder: &Path, stage: &Stage) -> io::Result<Self> {
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
            engine: MahjongEngine::new(self.racing_weights(network)),
            network,
            weights: self.network.weights.clone(),
        }
    }

    /// As the engine reads them, with this network alone.
    fn racing_weights(&self, network: Kind) -> NetworkWeights {
        const AS_WRITTEN: &str = "weights as they are written";
        let passive = vec![0.0; Layout::PASSIVE.weights];
        let read =
            |racing: &[f32]| NetworkWeights::read(self.bytes(&passive, racing)).expect(AS_WRITTEN);
        if network != Kind::Wide {
            return read(&self.network.weights);
        }
        let narrow = vec![0.0; Layout::RACING.weights];
        let wide = NetworkWeights::wide_to_bytes(&self.network.weights);
        read(&narrow).with_wide(wide).expect(AS_WRITTEN)
    }

    /// The file of weights with these networks against a passive and against a racing seat.
    pub(crate) fn bytes(&self, passive: &[f32], racing: &[f32]) -> Vec<u8> {
        let opponent = &self.opponent;
        NetworkWeights::to_bytes([
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
