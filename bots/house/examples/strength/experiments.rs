//! The list of what is measured.

use strum::VariantNames as _;

/// One bot against others, over a number of deals.
pub(crate) struct Experiment {
    /// The game's name.
    pub(crate) game: &'static str,
    /// The part of the report that it belongs to.
    pub(crate) part: Part,
    /// The bot that is measured: `NAME?parameter=value`.
    pub(crate) bot: String,
    /// The bots in the other seats, in order.
    pub(crate) others: Vec<String>,
    /// True if every deal is played from every seat, false if from the first one only.
    pub(crate) every_seat: bool,
    /// Number of deals that are enough.
    pub(crate) deals: u64,
    /// Number of threads that the bot uses.
    pub(crate) threads: usize,
    /// The place on the horizontal axis of its plot: milliseconds a move.
    pub(crate) time: Option<u32>,
}

/// The parts of the report on a game.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// Against the other built-in bots.
    Gauntlet,
    /// Alone against the arcade's bot, where the score counts.
    Arcade,
    /// With more and with less time.
    Time,
    /// With more threads.
    Threads,
    /// Each level against the one below.
    Levels,
    /// Without one of its ideas against the bot with all of them, with the same work.
    Ideas,
}

impl Experiment {
    /// The title that no other experiment has.
    pub(crate) fn title(&self) -> String {
        format!("{}: {} - {}", self.game, self.bot, self.others.join(", "))
    }

    fn new(game: &'static str, part: Part, bot: &str, others: &[&str], deals: u64) -> Self {
        Self {
            game,
            part,
            bot: bot.to_owned(),
            others: others.iter().map(|&other| other.to_owned()).collect(),
            every_seat: true,
            deals,
            threads: 1,
            time: None,
        }
    }
}

/// Every experiment.
pub(crate) fn experiments() -> Vec<Experiment> {
    let mut all = Vec::new();
    let mut two = |game, part, bot: &str, other: &str, deals| {
        all.push(Experiment::new(game, part, bot, &[other], deals));
    };
    for other in [
        "random",
        "weights?plies=3",
        "weights?plies=5",
        "weights?plies=7",
    ] {
        two("othello", Part::Gauntlet, "edge?time=100ms", other, 50);
    }
    two(
        "othello",
        Part::Gauntlet,
        "edge?time=100ms",
        "weights?plies=9",
        200,
    );
    for other in [
        "random",
        "ladder?level=10",
        "ladder?level=25",
        "ladder?level=50",
        "uct?time=100ms",
    ] {
        two(
            "connect_four",
            Part::Gauntlet,
            "zugzwang?time=100ms",
            other,
            100,
        );
    }
    for (time, other) in [("10ms", "100ms"), ("1s", "1s"), ("100ms", "1s")] {
        let [bot, other] = [format!("zugzwang?time={time}"), format!("uct?time={other}")];
        two("connect_four", Part::Gauntlet, &bot, &other, 100);
    }
    for (game, name) in [("othello", "edge"), ("connect_four", "zugzwang")] {
        for level in 2..=10 {
            let [higher, lower] = [level, level - 1].map(|level| format!("{name}?level={level}"));
            two(game, Part::Levels, &higher, &lower, 100);
        }
    }
    for (game, name) in [("othello", "edge"), ("connect_four", "zugzwang")] {
        let one = format!("{name}?time=50ms");
        all.push(Experiment {
            threads: 2,
            ..Experiment::new(
                game,
                Part::Threads,
                &format!("{one}&threads=2"),
                &[&one],
                100,
            )
        });
    }
    for (game, name) in [("othello", "edge"), ("connect_four", "zugzwang")] {
        for time in [5, 10, 40, 80, 160] {
            let (bot, reference) = (format!("{name}?time={time}ms"), format!("{name}?time=20ms"));
            all.push(Experiment {
                time: Some(time),
                ..Experiment::new(game, Part::Time, &bot, &[&reference], 100)
            });
        }
    }
    all.extend(mahjong());
    all.extend(big_two());
    all.extend(ideas());
    all
}

/// `tenpai` alone against a bot that never wins, and against those that do.
fn mahjong() -> Vec<Experiment> {
    let of = |part, bot: &str, other: &str, deals| {
        Experiment::new("mahjong", part, bot, &[other], deals)
    };
    let network = "tenpai?hands=1";
    let ahead = "tenpai?hands=2500";
    let two_draws = "tenpai?hands=40000";
    // Those that are told which kind of seat they meet.
    let informed = "tenpai?hands=1&opponent=1";
    let warned = "tenpai?hands=1&opponent=0";
    let warned_ahead = "tenpai?hands=2500&opponent=0";
    let played_out = "tenpai?playouts=4000&opponent=0";
    let mut all: Vec<Experiment> = [
        ("shanten", 10_000),
        (network, 10_000),
        (informed, 10_000),
        (ahead, 1_000),
    ]
    .into_iter()
    .map(|(bot, rounds)| Experiment {
        every_seat: false,
        ..of(Part::Arcade, bot, "simple", rounds)
    })
    .collect();
    all.push(of(Part::Gauntlet, network, "straightforward", 1_000));
    all.push(of(Part::Gauntlet, network, "shanten", 10_000));
    all.push(of(Part::Gauntlet, ahead, "shanten", 6_000));
    all.push(of(Part::Gauntlet, two_draws, "shanten", 2_000));
    all.push(of(Part::Gauntlet, warned, "shanten", 10_000));
    all.push(of(Part::Gauntlet, warned_ahead, "shanten", 6_000));
    all.push(of(Part::Gauntlet, played_out, "shanten", 1_200));
    for level in 2..=10 {
        let [higher, lower] = [level, level - 1].map(|level| format!("tenpai?level={level}"));
        let deals = if level == 10 { 200 } else { 500 };
        all.push(of(Part::Levels, &higher, &lower, deals));
    }
    all
}

/// The experiments that measure the worth of each idea of the strong bots.
fn ideas() -> Vec<Experiment> {
    let names = [
        (
            "othello",
            "edge?nodes=30000&book=no",
            edge::OthelloIdea::VARIANTS,
        ),
        (
            "connect_four",
            "zugzwang?nodes=5000",
            zugzwang::ConnectFourIdea::VARIANTS,
        ),
        (
            "mahjong",
            "tenpai?hands=2500",
            tenpai::MahjongIdea::VARIANTS,
        ),
        ("big_two", "ai4?playouts=200", ai4::BigTwoIdea::VARIANTS),
    ];
    let of_bot = |(game, bot, ideas): (&'static str, &'static str, &'static [&'static str])| {
        let others = vec![bot; if game == "big_two" { 3 } else { 1 }];
        // Points are decided by luck more than games are.
        let deals = if game == "mahjong" { 1_000 } else { 100 };
        ideas
            .iter()
            .map(move |idea| {
                Experiment::new(
                    game,
                    Part::Ideas,
                    &format!("{bot}&without={idea}"),
                    &others,
                    deals,
                )
            })
            .collect::<Vec<_>>()
    };
    names.into_iter().flat_map(of_bot).collect()
}

/// One `ai4` among three others.
fn big_two() -> Vec<Experiment> {
    let of = |part, bot: &str, others: [&str; 3], deals| {
        Experiment::new("big_two", part, bot, &others, deals)
    };
    let mixed = ["ai2", "ai3", "ai2"];
    let mut all: Vec<Experiment> = [["ai1"; 3], ["ai2"; 3], ["ai3"; 3], mixed]
        .into_iter()
        .map(|others| of(Part::Gauntlet, "ai4?time=50ms", others, 400))
        .collect();
    // Others that play as none of the models that it has of them.
    let level = "ai4?level=8";
    for others in [["random"; 3], ["random", "ai1", level], [level; 3]] {
        all.push(of(Part::Gauntlet, "ai4?playouts=200", others, 100));
    }
    for time in [5, 20, 80, 200] {
        all.push(Experiment {
            time: Some(time),
            ..of(Part::Time, &format!("ai4?time={time}ms"), mixed, 200)
        });
    }
    for level in 2..=10 {
        let [higher, lower] = [level, level - 1].map(|level| format!("ai4?level={level}"));
        all.push(of(Part::Levels, &higher, [&lower; 3], 100));
    }
    all
}
