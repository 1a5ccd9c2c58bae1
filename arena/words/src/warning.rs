//! Warnings of a run: why its figures may mislead.

use referee_core::Language;

use crate::plural;

/// A bot that committed so many fouls in so many games. The first game with one, and the foul,
/// follow the words.
#[must_use]
pub fn fouls(bot: &str, count: u64, games: u64, language: Language) -> String {
    let fouls = plural(count, "foul");
    match (count == games, language) {
        (false, Language::En) => format!("{bot} committed {fouls}, the first in "),
        (false, Language::Zh) => format!("{bot} 犯规 {count} 次，首次在对局 "),
        (true, Language::En) => format!(
            "{bot} committed {fouls}, one in every game that it played, so the figures say nothing \
             of its play; the first in "
        ),
        (true, Language::Zh) => {
            format!("{bot} 在全部 {games} 局中都犯规，数据不能说明其棋力；首次在对局 ")
        }
    }
}

/// Bots that repeat themselves: of so many games so many differ.
#[must_use]
pub fn repeated_games(games: u64, distinct: u64, language: Language) -> String {
    match language {
        Language::En => format!(
            "the sample is {}, but only {distinct} distinct: these bots repeat themselves, so the \
             error bars are too small",
            plural(games, "game")
        ),
        Language::Zh => format!("{games} 局中只有 {distinct} 局互不相同：误差被低估"),
    }
}

/// Delays of the referee: for each bot that they would have cost games, how many of its answers.
#[must_use]
pub fn late_referee(excused: &[(&str, u64)], language: Language) -> String {
    let bots = excused.iter().map(|(bot, answers)| match language {
        Language::En => format!("{bot} {answers}"),
        Language::Zh => format!("{bot} {answers} 次"),
    });
    let bots: Vec<String> = bots.collect();
    match language {
        Language::En => format!(
            "the referee was late; answers that were in time but for that: {}",
            bots.join(", ")
        ),
        Language::Zh => format!("裁判自身有延迟，因此不算超时的回答：{}", bots.join("，")),
    }
}

/// Bots that sat in one seat more often than in another, with their games by seat.
#[must_use]
pub fn unequal_seats(bots: &[(&str, &[u64])], language: Language) -> String {
    let bots = bots.iter().map(|(bot, seats)| {
        let seats: Vec<String> = seats.iter().map(u64::to_string).collect();
        format!("{bot} {}", seats.join("-"))
    });
    let bots: Vec<String> = bots.collect();
    match language {
        Language::En => format!(
            "unequal seats, which may have decided the results (games by seat): {}",
            bots.join(", ")
        ),
        Language::Zh => format!(
            "座位分布不均，可能影响结果（各座位的局数）：{}",
            bots.join("，")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_not_many() {
        assert_eq!(
            fouls("a", 1, 2, Language::En) + "run 3.1",
            "a committed 1 foul, the first in run 3.1"
        );
        assert_eq!(
            repeated_games(20, 1, Language::En),
            "the sample is 20 games, but only 1 distinct: these bots repeat themselves, so the error \
             bars are too small"
        );
    }

    #[test]
    fn a_foul_in_every_game_is_said() {
        assert_eq!(
            fouls("a", 20, 20, Language::En) + "run 0.0",
            "a committed 20 fouls, one in every game that it played, so the figures say nothing of \
             its play; the first in run 0.0"
        );
        assert!(fouls("", 20, 20, Language::Zh).contains("全部 20 局"));
    }

    #[test]
    fn every_bot_is_named() {
        let late = [("a", 3), ("b", 1)];
        assert_eq!(
            late_referee(&late, Language::En),
            "the referee was late; answers that were in time but for that: a 3, b 1"
        );
        assert_eq!(
            unequal_seats(&[("a", &[3, 1]), ("b", &[1, 3])], Language::En),
            "unequal seats, which may have decided the results (games by seat): a 3-1, b 1-3"
        );
    }

    #[test]
    fn chinese_has_no_latin_words_but_names() {
        for said in [
            fouls("", 2, 3, Language::Zh),
            fouls("", 2, 2, Language::Zh),
            repeated_games(2, 1, Language::Zh),
            late_referee(&[("", 2)], Language::Zh),
            unequal_seats(&[("", &[3, 1])], Language::Zh),
        ] {
            assert!(!said.contains(|c: char| c.is_ascii_alphabetic()), "{said}");
        }
    }
}
