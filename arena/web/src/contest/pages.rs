//! The pages of a contest.

use arena_contest::{
    Board, ContestRules, EntryDetails, EntryExplanation, ExamCase, ExamRules, Phase, RoundGame,
    Viewer,
};
use arena_events::replay::ExplainedEvent;
use arena_store::{Entry, Role};
use maud::{Markup, html};
use referee_core::{printable, shorten};

use super::{
    visit::{SeenContest, Visit},
    words,
};
use crate::{
    evaluation::Analysis,
    language::Language,
    layout::part,
    pages::game_title,
    viewer::{self, ViewedGame, ViewedPosition},
};

/// The most characters of a foul in a row of a table.
const FOUL: usize = 60;
/// A better move that was worth so much more of the points is shown.
const LOSS: f64 = 0.05;

/// The address of a contest, or of something of it.
fn at(visit: &Visit, rest: &str) -> String {
    format!("contest/{}{rest}", part(&visit.standing.contest.name))
}

/// Why there is nothing to see, and how to log in.
pub(super) fn refused(contest: &str, told: &str, language: Language) -> Markup {
    html! {
        h1 { (language.pick("Not seen", "无法查看")) }
        p { (told) }
        p { a.button href=(format!("contest/{}/login", part(contest))) { (language.pick("Log in", "登录")) } }
    }
}

pub(super) fn login(contest: &str, wrong: Option<&str>, language: Language) -> Markup {
    html! {
        h1 { (language.pick("Log in", "登录")) }
        p { (language.pick(
            "The organisers have given you a token, or a link with it.",
            "组织者已把令牌，或带有令牌的链接发给你。",
        )) }
        @if let Some(wrong) = wrong { p.warning role="alert" { (wrong) } }
        form.settings #login method="post" action=(format!("contest/{}/login", part(contest))) {
            label {
                span { (language.pick("Token", "令牌")) }
                input #token name="token" type="password" required autocomplete="off" spellcheck="false";
            }
            button type="submit" { (language.pick("Log in", "登录")) }
        }
    }
}

pub(super) fn list(contests: &[SeenContest], language: Language) -> Markup {
    html! {
        h1 { (language.pick("Contests", "竞赛")) }
        @if contests.is_empty() {
            p { (language.pick(
                "None is public. To see yours, log in by the link that its organisers have sent you.",
                "没有公开的竞赛。请用组织者发给你的链接登录。",
            )) }
        } @else {
            div.scrolls tabindex="0" role="region" aria-label=(language.pick("Contests", "竞赛")) { table {
                thead { tr {
                    th scope="col" { (language.pick("name", "名称")) }
                    th scope="col" { (language.pick("game", "游戏")) }
                    th scope="col" { (language.pick("phase", "阶段")) }
                    th scope="col" { (language.pick("closes", "截止")) }
                } }
                tbody { @for SeenContest { contest, rules, phase, .. } in contests { tr {
                    th scope="row" { a href=(format!("contest/{}", part(&contest.name))) { (rules.title) } }
                    td { (game_title(&rules.game, language)) }
                    td { (words::phase(*phase, language)) }
                    td { (time(rules, rules.closes_unix_ms)) }
                } } }
            } }
        }
    }
}

/// A time in the contest's zone, whose name is no word of the page.
fn time(rules: &ContestRules, unix_ms: i64) -> Markup {
    let shown = rules.shown(unix_ms);
    let (time, zone) = shown.rsplit_once(' ').unwrap_or((&shown, ""));
    html! { (time) " " span lang="en" { (zone) } }
}

/// The heading of each page, and the ways to the others.
fn head(visit: &Visit, title: &str, language: Language) -> Markup {
    html! {
        h1 { (title) }
        nav.sights aria-label=(language.pick("Contest", "竞赛")) {
            a href=(at(visit, "")) { (visit.standing.rules.title) }
            @match visit.viewer {
                Viewer::Contestant(_) => { " · " a href=(at(visit, "/mine")) { (language.pick("Your entries", "我的提交")) } }
                Viewer::Organiser => { " · " a href=(at(visit, "/admin")) { (language.pick("Organisers", "组织")) } }
                Viewer::Other => {}
            }
        }
        @if let Some(person) = &visit.person {
            @let who = format!(
                "{} ({})",
                person.name.as_deref().unwrap_or_default(),
                words::role(person.role, language)
            );
            @if visit.can_log_out {
                form.acts method="post" action=(at(visit, "/logout")) {
                    span { (who) }
                    button type="submit" { (language.pick("Log out", "退出")) }
                }
            } @else {
                p { (who) }
            }
        } @else {
            p { a href=(at(visit, "/login")) { (language.pick("Log in", "登录")) } }
        }
    }
}

/// The page of a contest. `refused` says why a challenge was not taken.
pub(super) fn contest(visit: &Visit, refused: Option<&str>, language: Language) -> Markup {
    let standing = &visit.standing;
    let rules = &standing.rules;
    let mut times = vec![(language.pick("opens", "开始"), rules.opens_unix_ms)];
    times.extend(
        rules
            .freezes_unix_ms
            .map(|at| (language.pick("freezes", "封榜"), at)),
    );
    times.push((language.pick("closes", "截止"), rules.closes_unix_ms));
    html! {
        (head(visit, &rules.title, language))
        table { tbody {
            tr {
                th scope="row" { (language.pick("game", "游戏")) }
                td { a href=(format!("rules/{}", rules.game)) { (game_title(&rules.game, language)) } }
            }
            tr {
                th scope="row" { (language.pick("phase", "阶段")) }
                td { (words::phase(standing.phase, language)) }
            }
            @for (what, at) in times {
                tr { th scope="row" { (what) } td { (time(rules, at)) } }
            }
        } }
        section {
            h2 { (language.pick("Board", "排行榜")) }
            (board(visit, &standing.board(visit.viewer), language))
            (challenges(visit, refused, language))
            p { a href=(at(visit, "/board.html")) download { (language.pick("The board as a file", "下载排行榜")) } }
        }
        section {
            h2 { (language.pick("Rules", "规则")) }
            ul { @for rule in words::rules(rules, language) { li { (rule) } } }
            @if rules.r#final.is_some() { (root(visit, language)) }
        }
    }
}

/// Whom a contestant meets in the next round by a challenge, and the form that asks for another one.
fn challenges(visit: &Visit, refused: Option<&str>, language: Language) -> Markup {
    let standing = &visit.standing;
    let Viewer::Contestant(own) = visit.viewer else {
        return html! {};
    };
    let has_challenges = standing
        .rules
        .ladder()
        .is_some_and(|one| one.challenges_a_day > 0);
    if !has_challenges || !matches!(standing.phase, Phase::Open | Phase::Frozen) {
        return html! {};
    }
    let name = |number| standing.name_of(number, visit.viewer);
    let own_ones = standing.challenges.iter();
    let own_ones = own_ones.filter(|one| one.contestant == own || one.opponent == own);
    let others = standing.contestants.iter();
    let others = others.filter(|one| one.number != own && one.disqualified.is_none());
    html! {
        @if let Some(refused) = refused { p.warning role="alert" { (refused) } }
        ul { @for one in own_ones { li {
            @match one.contestant == own {
                true => { (language.pick("You have challenged ", "你已挑战 ")) span lang="" { (name(one.opponent)) } }
                false => { span lang="" { (name(one.contestant)) } (language.pick(" has challenged you", " 已挑战你")) }
            }
        } } }
        form.settings method="post" action=(at(visit, "/challenges")) {
            label {
                span { (language.pick("Challenge", "挑战")) }
                select name="opponent" { @for one in others {
                    option value=(one.number) lang="" { (name(one.number)) }
                } }
            }
            button type="submit" { (language.pick("Meet in the next round", "下一轮对局")) }
        }
    }
}

/// What the root of the final was promised to be, and when all is told the root.
fn root(visit: &Visit, language: Language) -> Markup {
    let standing = &visit.standing;
    let root = &standing.contest.final_root;
    html! {
        p.invite {
            (language.pick(
                "The deals of the final follow from a root with this SHA-256: ",
                "决赛牌局由一个根种子决定，它的哈希值是：",
            ))
            code { (root.commitment()) }
        }
        @if standing.phase == Phase::Published {
            p.invite { (language.pick("The root: ", "根种子：")) code { (root.reveal()) } }
        }
    }
}

/// The board with nothing that leads elsewhere.
pub(super) fn board_file(visit: &Visit, now_unix_ms: i64, language: Language) -> Markup {
    let standing = &visit.standing;
    let rules = &standing.rules;
    let mut shown = standing.board(visit.viewer);
    for row in &mut shown.rows {
        row.entries.clear();
    }
    html! {
        h1 { (rules.title) }
        p {
            (game_title(&rules.game, language)) " · " (words::phase(standing.phase, language)) " · "
            (time(rules, now_unix_ms))
        }
        (board(visit, &shown, language))
        @if rules.r#final.is_some() { (root(visit, language)) }
    }
}

fn board(visit: &Visit, board: &Board, language: Language) -> Markup {
    let points = |points: Option<i64>| points.map_or_else(String::new, |n| n.to_string());
    let has_shares = board.rows.iter().any(|row| row.percent.is_some());
    let has_ratings = board.rows.iter().any(|row| row.rating.is_some());
    html! {
        @if let Some(frozen) = board.frozen_unix_ms {
            p.warning {
                (language.pick("The board is as it was at ", "排行榜已封榜，停留在 ")) (time(&visit.standing.rules, frozen))
                (language.pick(
                    ". What was handed in later is shown when the contest is published.",
                    "。之后的提交在竞赛公布时显示。",
                ))
            }
        }
        @if board.rows.is_empty() {
            p { (language.pick("Nobody takes part yet.", "还没有选手。")) }
        } @else {
            div.scrolls tabindex="0" role="region" aria-label=(language.pick("Board", "排行榜")) { table {
                thead { tr {
                    th.number scope="col" { (language.pick("rank", "名次")) }
                    th scope="col" { (language.pick("contestant", "选手")) }
                    @for one in &board.parts { th.number scope="col" { (words::part(*one, language)) } }
                    @if has_shares { th.number scope="col" { @match board.round {
                        None | Some(0) => (language.pick("final, %", "决赛 %")),
                        Some(round) => { (language.pick("round ", "第 ")) (round) (language.pick(", %", " 轮 %")) }
                    } } }
                    @if has_ratings { th.number scope="col" { (language.pick("rating", "等级分")) } }
                    th.number scope="col" { (language.pick("total", "总分")) }
                    th.number scope="col" { (language.pick("entries", "提交数")) }
                } }
                tbody { @for row in &board.rows {
                    tr.own[row.own] {
                        td.number { @match row.rank {
                            Some(rank) => (rank),
                            None => (language.pick("out", "取消资格")),
                        } }
                        th scope="row" {
                            span lang="" { (row.name) }
                            @if row.own { " (" (language.pick("you", "你")) ")" }
                            @if let Some(why) = row.disqualified.as_ref().filter(|why| *why != "out") {
                                " " span.foul lang="" { (why) }
                            }
                        }
                        @for (at, one) in row.points.iter().enumerate() {
                            td.number { @match row.entries.get(at).copied().flatten() {
                                Some(entry) => a href=(self::at(visit, &format!("/entries/{entry}"))) { (points(*one)) },
                                None => (points(*one)),
                            } }
                        }
                        @if has_shares {
                            td.number { @if let Some(percent) = row.percent { (format!("{percent:.1}")) } }
                        }
                        @if has_ratings {
                            td.number { @if let Some(rating) = row.rating {
                                (format!("{:.0}", rating.elo)) span.quiet { (format!(" ± {:.0}", rating.error)) }
                            } }
                        }
                        td.number { (row.total) }
                        td.number { (row.handed_in) }
                    }
                } }
            } }
        }
    }
}

pub(super) fn mine(
    visit: &Visit,
    refused: Option<&str>,
    entries: &Markup,
    language: Language,
) -> Markup {
    let standing = &visit.standing;
    let groups = match standing.rules.exam {
        ExamRules::Groups { groups } => groups,
        ExamRules::Cases(_) | ExamRules::None {} => 0,
    };
    html! {
        (head(visit, language.pick("Your entries", "我的提交"), language))
        @if let Some(refused) = refused { p.warning role="alert" { (refused) } }
        section {
            h2 { (language.pick("Hand in", "提交")) }
            @if standing.phase == Phase::Published {
                p { (language.pick("The contest is over.", "竞赛已结束。")) }
            } @else {
                @if standing.phase == Phase::Closed {
                    p.warning { (language.pick(
                        "The deadline is over: what is handed in now counts only for those who have \
                         more time.",
                        "已过截止时间：只有获准延期的选手，提交才计入成绩。",
                    )) }
                }
                form.settings method="post" enctype="multipart/form-data" action=(at(visit, "/mine")) {
                    label {
                        span { (language.pick(
                            "A zip or tar of sources, or one source file",
                            "源代码的压缩包，或单个源文件",
                        )) }
                        input name="file" type="file" required;
                    }
                    @if groups > 0 {
                        label {
                            span { (language.pick("Group", "组")) }
                            select name="group" { @for group in 1..=groups { option value=(group) { (group) } } }
                        }
                    }
                    button type="submit" { (language.pick("Hand in", "提交")) }
                }
            }
        }
        (entries)
    }
}

/// What a contestant has handed in, and how much is left.
pub(super) fn entries(visit: &Visit, language: Language) -> Markup {
    let (counted, all) = visit.standing.rules.left(visit.entries());
    html! {
        section {
            h2 { (language.pick("Entries", "提交记录")) }
            p {
                (counted) (language.pick(" more may count; ", " 次可计入成绩；"))
                (all) (language.pick(" more are taken in all.", " 次可提交。"))
            }
            (entry_table(visit, visit.entries().rev().collect(), language))
        }
    }
}

/// A table of entries, where there are some.
fn entry_table(visit: &Visit, entries: Vec<&Entry>, language: Language) -> Markup {
    if entries.is_empty() {
        return Markup::default();
    }
    let has_names = visit.viewer == Viewer::Organiser;
    html! {
        div.scrolls tabindex="0" role="region" aria-label=(language.pick("Entries", "提交记录")) { table {
            thead { tr {
                th.number scope="col" { (language.pick("entry", "编号")) }
                @if has_names { th scope="col" { (language.pick("contestant", "选手")) } }
                th.number scope="col" { (language.pick("group", "组")) }
                th scope="col" { (language.pick("file", "文件")) }
                th scope="col" { (language.pick("handed in", "提交时间")) }
                th scope="col" { (language.pick("counts", "计分")) }
                th scope="col" { (language.pick("state", "状态")) }
                th scope="col" { (language.pick("result", "结果")) }
            } }
            tbody { @for entry in entries { tr {
                th.number scope="row" {
                    a href=(at(visit, &format!("/entries/{}", entry.number))) { (entry.number) }
                }
                @if has_names {
                    td { span lang="" { (visit.standing.name_of(entry.contestant, visit.viewer)) } }
                }
                td.number { @if entry.part > 0 { (entry.part) } }
                td { code { (printable(&entry.file)) } }
                td { (time(&visit.standing.rules, entry.received_unix_ms)) }
                td { (counts(entry, language)) }
                td { (state(visit, entry, language)) }
                td { (result(visit, entry, language)) }
            } } }
        } }
    }
}

const fn counts(entry: &Entry, language: Language) -> &'static str {
    match (entry.place.official, entry.place.counted) {
        (false, _) => language.pick("late", "迟交"),
        (true, true) => language.pick("yes", "是"),
        (true, false) => language.pick("no", "否"),
    }
}

/// The state of an entry, and its place in the queue.
fn state(visit: &Visit, entry: &Entry, language: Language) -> Markup {
    html! {
        (words::state(entry.state, language))
        @if !entry.state.is_final() {
            @match visit.standing.ahead(entry) {
                0 => (language.pick(", next", "，即将处理")),
                ahead => (format!("{}{ahead}", language.pick(", before it: ", "，前面还有："))),
            }
        }
    }
}

/// What came of an entry, in few words.
fn result(visit: &Visit, entry: &Entry, language: Language) -> Markup {
    let outcome = visit.standing.outcome(entry, visit.viewer);
    let is_told = outcome.is_some();
    let outcome = outcome.unwrap_or_default();
    html! {
        @if let Some(fault) = &outcome.fault {
            span.foul { span lang="en" { (printable(&fault.verdict)) } }
        } @else if !is_told {
            (language.pick("told when the contest is published", "竞赛公布时显示"))
        } @else if let Some(score) = entry.score {
            (score) (language.pick(" points", " 分"))
            @if let Some((passed, of)) = outcome.passed {
                (language.pick(", cases passed: ", "，通过：")) (passed) " / " (of)
            }
        }
    }
}

/// What stands around an entry.
pub(super) fn entry_around(
    visit: &Visit,
    number: u64,
    entry: &Markup,
    language: Language,
) -> Markup {
    let title = format!("{} {number}", language.pick("Entry", "提交"));
    html! {
        (head(visit, &title, language))
        (entry)
    }
}

/// An entry: what came of it, and why.
pub(super) fn entry(
    visit: &Visit,
    entry: &Entry,
    details: &EntryDetails,
    played: &[RoundGame],
    language: Language,
) -> Markup {
    let outcome = visit.standing.outcome(entry, visit.viewer);
    let fault = outcome.and_then(|outcome| outcome.fault);
    let EntryDetails {
        log,
        findings,
        games,
    } = details;
    let cases: &[ExamCase] = match &visit.standing.rules.exam {
        ExamRules::Cases(cases) => cases,
        ExamRules::Groups { .. } | ExamRules::None {} => &[],
    };
    html! {
        p.result {
            (state(visit, entry, language)) " · " (result(visit, entry, language))
        }
        p {
            code { (printable(&entry.file)) } " · " (time(&visit.standing.rules, entry.received_unix_ms)) " · "
            (language.pick("counts: ", "计分：")) (counts(entry, language))
            @if entry.part > 0 { " · " (words::part(entry.part, language)) }
        }
        @if let Some(fault) = &fault { p.evidence { span lang="en" { (printable(&fault.words)) } } }
        @if let Some(foul) = games.iter().find_map(|game| game.foul.as_ref()) {
            section {
                h2 { (language.pick("The first foul", "首次犯规")) }
                p.evidence { span lang="en" { (printable(foul)) } }
            }
        }
        @if !games.is_empty() {
            section {
                h2 { (language.pick("Games", "对局")) }
                div.scrolls tabindex="0" role="region" aria-label=(language.pick("Games", "对局")) { table {
                    thead { tr {
                        th.number scope="col" { (language.pick("game", "局")) }
                        @if !cases.is_empty() { th scope="col" { (language.pick("case", "用例")) } }
                        th scope="col" { (language.pick("opponent", "对手")) }
                        th scope="col" { (language.pick("seat", "座位")) }
                        th scope="col" { (language.pick("verdict", "结果")) }
                        th.number scope="col" { (language.pick("points", "得分")) }
                        th.number scope="col" { (language.pick("moves", "步数")) }
                        th scope="col" { (language.pick("why", "原因")) }
                    } }
                    tbody { @for (number, game) in (1..).zip(games) { tr {
                        th.number scope="row" {
                            a href=(at(visit, &format!("/entries/{}/games/{number}", entry.number))) { (number) }
                        }
                        @if !cases.is_empty() {
                            td { @if let Some(case) = cases.get((game.part as usize).wrapping_sub(1)) {
                                span lang="" { (case.name) }
                            } }
                        }
                        td { span lang="en" { (game.opponent) } }
                        td { (seat(game.seat, language)) }
                        td { (words::verdict(game.verdict, language)) }
                        td.number { (game.points) }
                        td.number { (game.plies) }
                        td { @if let Some(foul) = &game.foul {
                            span lang="en" { (shorten(&printable(foul), FOUL)) }
                        } }
                    } } }
                } }
            }
        }
        (rounds(visit, entry, played, language))
        @if !findings.is_empty() {
            section {
                h2 { (language.pick("Check", "检查")) }
                @for found in findings {
                    p.evidence { span lang="en" {
                        strong { @match found.is_fault { true => "fault ", false => "warning " } (printable(&found.name)) }
                        ": " (printable(&found.seen)) br;
                        "expected: " (printable(&found.expected)) br;
                        "fix: " (printable(&found.fix))
                    } }
                }
            }
        }
        @if !log.is_empty() {
            section {
                h2 { (language.pick("Build", "构建")) }
                pre tabindex="0" lang="en" { @for line in log.lines() { (printable(line)) "\n" } }
            }
        }
    }
}

/// The games of an entry in rounds of the league and in the final, where there are some.
fn rounds(visit: &Visit, entry: &Entry, rounds: &[RoundGame], language: Language) -> Markup {
    let title = language.pick("League and final", "联赛和决赛");
    html! {
        @if !rounds.is_empty() {
            section {
                h2 { (title) }
                div.scrolls tabindex="0" role="region" aria-label=(title) { table {
                    thead { tr {
                        th.number scope="col" { (language.pick("game", "局")) }
                        th scope="col" { (language.pick("opponent", "对手")) }
                        th scope="col" { (language.pick("seat", "座位")) }
                        th scope="col" { (language.pick("verdict", "结果")) }
                        th.number scope="col" { (language.pick("moves", "步数")) }
                        th scope="col" { (language.pick("why", "原因")) }
                    } }
                    tbody { @for game in rounds { tr {
                        th.number scope="row" {
                            a href=(at(visit, &format!("/entries/{}/games/{}", entry.number, game.game))) {
                                @match (game.round, game.game.rsplit_once('.')) {
                                    (0, Some((_, number))) => { (language.pick("final", "决赛")) "." (number) }
                                    _ => (game.game),
                                }
                            }
                        }
                        td { span lang="" { (game.opponents.join(", ")) } }
                        td { (seat(game.seat, language)) }
                        td { (words::verdict(game.verdict, language)) }
                        td.number { (game.plies) }
                        td { @if let Some(foul) = &game.foul {
                            span lang="en" { (shorten(&printable(foul), FOUL)) }
                        } }
                    } } }
                } }
            }
        }
    }
}

fn seat(seat: u8, language: Language) -> Markup {
    html! {
        @match seat {
            0 => (language.pick("first", "先手")),
            1 => (language.pick("second", "后手")),
            seat => (seat + 1),
        }
    }
}

/// A game of an entry, on its pages.
#[derive(Clone, Copy)]
pub(super) struct EntryGamePage<'a> {
    pub(super) game: &'a ViewedGame,
    /// The address of the entry.
    pub(super) of: &'a str,
    /// The number of the game among those of the entry, as in addresses.
    pub(super) which: &'a str,
}

impl EntryGamePage<'_> {
    fn at(self) -> String {
        format!("{}/games/{}", self.of, part(self.which))
    }

    fn head(self, more: &Markup, language: Language) -> Markup {
        let Self { game, of, .. } = self;
        html! {
            h1 { span lang="" { (game.names().join(" – ")) } }
            p {
                a href=(of) { (language.pick("The entry", "返回提交")) } " · "
                (more) " · "
                a href=(format!("rules/{}", game.kind.info().name)) { (game.kind.info().title_in(language)) }
            }
        }
    }

    /// The game after so many moves, and what its bot has printed.
    pub(super) fn page(
        self,
        ply: Option<usize>,
        analysis: &Analysis,
        log: Option<&str>,
        language: Language,
    ) -> Markup {
        let (game, at) = (self.game, self.at());
        let look = ViewedPosition { ply, seat: None };
        let more = html! {
            a href=(format!("{at}/explanation")) { (language.pick("What your moves were worth", "每步的价值")) }
        };
        html! {
            (self.head(&more, language))
            div.watching {
                (viewer::show(game, look, analysis, language, &at, &format!("{at}/frames"), &html! {}))
            }
            section {
                h2 { (language.pick("Log of the bot", "程序输出")) }
                @match log {
                    Some(log) => {
                        pre tabindex="0" lang="en" { @for line in log.lines() { (printable(line)) "\n" } }
                        p { a href=(format!("api/v1/{}/log", at.replacen("contest/", "contests/", 1))) {
                            (language.pick("The log as text", "纯文本"))
                        } }
                    }
                    None => p { (language.pick(
                        "It printed nothing in this game, or that is not kept any more.",
                        "本局没有输出，或输出已不再保存。",
                    )) },
                }
            }
        }
    }

    /// What the moves of the entry were worth.
    pub(super) fn explanation(self, explained: &EntryExplanation, language: Language) -> Markup {
        let at = self.at();
        let EntryExplanation { moves, explanation } = explained;
        let percent = |score: f64| format!("{:.0} %", 100.0 * score);
        let played = |one: &ExplainedEvent| match &one.notation {
            Some(notation) => notation.clone(),
            None => language.pick("a foul", "犯规").to_owned(),
        };
        let turned = explanation.turning_point.as_ref();
        let turned = turned.and_then(|one| Some((one, one.better.as_ref()?)));
        let title = language.pick("What your moves were worth", "每步的价值");
        let more = html! { a href=(at) { (language.pick("The game", "返回对局")) } };
        html! {
            (self.head(&more, language))
            section {
                h2 { (title) }
                p.result { @match turned {
                    Some((one, better)) => {
                        @let (number, was) = (one.number, percent(one.expects.score));
                        @let (better, is) = (&better.notation, percent(better.expects.score));
                        @match language {
                            Language::En => {
                                (format!("Move {number} turned the game: {} left you {was}, and {better} was worth {is}.", played(one)))
                            }
                            Language::Zh => {
                                (format!("第 {number} 步是转折点：{} 之后预期 {was}，{better} 为 {is}。", played(one)))
                            }
                        }
                    }
                    None => (language.pick("No single move turned the game.", "没有哪一步单独决定胜负。")),
                } }
                div.scrolls tabindex="0" role="region" aria-label=(title) { table {
                    thead { tr {
                        th.number scope="col" { (language.pick("move", "步")) }
                        th scope="col" { (language.pick("plays", "着法")) }
                        th.number scope="col" { (language.pick("expects", "预期")) }
                        th scope="col" { (language.pick("best", "更好的着法")) }
                        th.number scope="col" { (language.pick("worth", "其预期")) }
                    } }
                    tbody { @for one in moves {
                        @let better = one.better.as_ref().filter(|better| better.expects.score - one.expects.score >= LOSS);
                        tr {
                            th.number scope="row" { a href=(format!("{at}?ply={}", one.number)) { (one.number) } }
                            td { (played(one)) }
                            td.number { (percent(one.expects.score)) }
                            td { @if let Some(better) = better { (better.notation) } }
                            td.number { @if let Some(better) = better { (percent(better.expects.score)) } }
                        }
                    } }
                } }
                p.invite {
                    (language.pick(
                        "Shares of the points, as this bot estimates them from what your seat knew: ",
                        "预期得分占比，估计者（只用你的座位当时知道的信息）：",
                    ))
                    code { (explanation.bot.as_deref().unwrap_or_default()) }
                }
            }
        }
    }
}

pub(super) fn admin(visit: &Visit, queue: &Markup, language: Language) -> Markup {
    let standing = &visit.standing;
    let board_now = standing.board(visit.viewer);
    let people = |role: Role| {
        standing
            .people
            .iter()
            .filter(|one| one.role == role)
            .count()
    };
    let csv = format!(
        "api/v1/contests/{}/grades.csv",
        part(&standing.contest.name)
    );
    html! {
        (head(visit, language.pick("Organisers", "组织"), language))
        p {
            (words::phase(standing.phase, language))
            @for role in Role::ALL { " · " (words::role(role, language)) ": " (people(role)) }
            " · " a href=(csv) download { (language.pick("Grades as CSV", "成绩表")) }
            " · " a href=(at(visit, "/board.html")) download {
                (language.pick("Board with names as a file", "下载实名排行榜"))
            }
        }
        (queue)
        section {
            h2 { (language.pick("Board with names, as it is now", "实名排行榜（实时）")) }
            (board(visit, &board_now, language))
        }
    }
}

/// What is to be done, and all entries.
pub(super) fn queue(visit: &Visit, language: Language) -> Markup {
    let standing = &visit.standing;
    let is_open = |entry: &&Entry| !entry.state.is_final();
    let open: Vec<&Entry> = visit.entries().filter(is_open).collect();
    html! {
        section {
            h2 { (language.pick("Queue", "队列")) ": " (open.len()) }
            (entry_table(visit, open, language))
        }
        section {
            h2 { (language.pick("Entries", "提交记录")) ": " (standing.entries.len()) }
            (entry_table(visit, visit.entries().rev().collect(), language))
        }
    }
}
