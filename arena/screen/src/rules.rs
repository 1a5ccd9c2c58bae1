//! The rules of a game as plain text for people who play it: the page is Markdown, and has sections
//! for authors of bots, which are left out.

use arena_terminal::report::table_lines;

/// The beginnings of the headings of sections that are for authors of bots and for courses.
const NOT_FOR_PLAYERS: [&str; 9] = [
    "What a bot",
    "Verdicts",
    "Grading",
    "The built-in bots",
    "告知与询问",
    "向机器人",
    "判定与",
    "评分",
    "自带的机器人",
];

/// The page of a game in plain lines, of any width.
pub(super) fn as_text(page: &str) -> String {
    let mut lines = Vec::new();
    let mut is_for_players = true;
    let mut table = Vec::new();
    for line in page.trim().lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            is_for_players = !NOT_FOR_PLAYERS.iter().any(|one| heading.starts_with(one));
        }
        // The first link is to the same page in the other language.
        if !is_for_players || line.starts_with('[') {
            continue;
        }
        if let Some(row) = line.strip_prefix('|') {
            table.push(cells(row));
            continue;
        }
        lines.extend(drawn(&mut table));
        let is_empty = line.is_empty() && lines.last().is_none_or(String::is_empty);
        if !is_empty {
            lines.push(plain(line.trim_start_matches('#').trim_start()));
        }
    }
    lines.extend(drawn(&mut table));
    lines.join("\n")
}

/// The cells of a table's row.
fn cells(row: &str) -> Vec<String> {
    let row = row.trim().trim_end_matches('|');
    row.split('|').map(|cell| plain(cell.trim())).collect()
}

/// The lines of a table, which is empty afterwards.
fn drawn(table: &mut Vec<Vec<String>>) -> Vec<String> {
    // Below the header there is a line of dashes.
    let mut rows = std::mem::take(table).into_iter();
    let Some(header) = rows.next() else {
        return Vec::new();
    };
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    table_lines(&header, rows.skip(1).collect(), |_| false)
}

/// A line without marks: of a link its text is left.
fn plain(line: &str) -> String {
    let mut text = String::new();
    let mut rest = line;
    while let Some((before, (label, after))) = rest.split_once('[').and_then(|(before, link)| {
        let (label, target) = link.split_once("](")?;
        Some((before, (label, target.split_once(')')?.1)))
    }) {
        text = text + before + label;
        rest = after;
    }
    (text + rest).replace('`', "").replace("**", "")
}

#[cfg(test)]
mod tests {
    use referee_core::Language;
    use referee_games::GAMES;

    use super::*;

    #[test]
    fn marks_are_left_out_and_tables_are_set() {
        let page = "# A game (`game`)\n\n[中文](../zh/game.md)\n\nTwo `seats` ([more](a.md), [b](b.md)).\n\n\
                    ## Play\n- one `x`\n\n| hand | faan |\n| --- | --- |\n| all triplets | 2 |\n\n\
                    ## What a bot is asked: `GetPoint`\n`m`, `n`\n\n## Set-ups\nnone";
        let text = "A game (game)\n\nTwo seats (more, b).\n\nPlay\n- one x\n\n hand          faan\n \
                    all triplets  2\n\nSet-ups\nnone";
        assert_eq!(as_text(page), text);
    }

    #[test]
    fn the_rules_of_every_game_are_text_for_people() {
        for kind in GAMES.iter() {
            for language in Language::ALL {
                let text = as_text(kind.info().rules.get(language));
                assert!(text.contains(kind.info().title_in(language)), "{text}");
                // Marks of Markdown, and messages of the protocol.
                assert!(!text.lines().any(|line| line.starts_with('#')), "{text}");
                let marks = [
                    "`", "|", "](", "**", "---", "Request", "GetPoint", "GetDraw", "top[y]",
                ];
                for mark in marks {
                    assert!(!text.contains(mark), "{mark}: {text}");
                }
                let least = language.pick("Set-ups", "设定");
                assert!(text.contains(least), "{text}");
            }
        }
    }

    #[test]
    fn every_section_that_is_left_out_is_there() {
        let pages = GAMES.iter().flat_map(|kind| {
            let rules = &kind.info().rules;
            [rules.english, rules.chinese]
        });
        let pages: Vec<&str> = pages.collect();
        for heading in NOT_FOR_PLAYERS {
            let line = format!("\n## {heading}");
            assert!(pages.iter().any(|page| page.contains(&line)), "{heading}");
        }
    }
}
