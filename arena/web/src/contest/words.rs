//! What contests are told in, in two languages.

use std::time::Duration;

use arena_contest::{
    ChallengeRefusal, ContestRules, Counts, ExamRules, Phase, Refusal, verdict_words,
};
use arena_events::exam::ExamVerdict;
use arena_store::{EntryState, Role};
use axum::http::StatusCode;
use referee_core::{Language, Words};

use crate::error::PageError;

pub(super) const fn phase(phase: Phase, language: Language) -> &'static str {
    let chinese = match phase {
        Phase::Announced => "未开始",
        Phase::Open => "进行中",
        Phase::Frozen => "已封榜",
        Phase::Closed => "已截止",
        Phase::Published => "已公布",
    };
    language.pick(phase.word(), chinese)
}

pub(super) const fn state(state: EntryState, language: Language) -> &'static str {
    match state {
        EntryState::Received => language.pick("waits", "等待中"),
        EntryState::Building => language.pick("is being built", "构建中"),
        EntryState::Playing => language.pick("plays its exam", "评测中"),
        EntryState::Judged => language.pick("judged", "已评测"),
        EntryState::Failed => language.pick("failed", "失败"),
        EntryState::Settled => language.pick("settled", "已处理"),
    }
}

pub(super) const fn role(role: Role, language: Language) -> &'static str {
    let chinese = match role {
        Role::Organiser => "组织者",
        Role::Contestant => "选手",
        Role::Guest => "来宾",
    };
    language.pick(role.word(), chinese)
}

pub(super) const fn verdict(verdict: ExamVerdict, language: Language) -> &'static str {
    let chinese = match verdict {
        ExamVerdict::Win => "胜",
        ExamVerdict::Draw => "平",
        ExamVerdict::Loss => "负",
        ExamVerdict::IllegalMove => "非法着法",
        ExamVerdict::TimeLimitExceeded => "超时",
        ExamVerdict::MemoryLimitExceeded => "内存超限",
        ExamVerdict::OutputLimitExceeded => "输出超限",
        ExamVerdict::RuntimeError => "运行错误",
        ExamVerdict::SystemError => "系统错误",
    };
    language.pick(verdict_words(verdict), chinese)
}

/// The title of a column of points.
pub(super) fn part(part: u32, language: Language) -> String {
    match part {
        0 => language.pick("points", "得分").to_owned(),
        part => format!("{} {part}", language.pick("group", "组")),
    }
}

/// A length of time in its largest whole unit.
fn time(time: Duration, language: Language) -> String {
    let ms = time.as_millis();
    let units = [
        (3_600_000, "h", "小时"),
        (60_000, "min", "分钟"),
        (1_000, "s", "秒"),
    ];
    let found = units
        .iter()
        .find(|(unit, ..)| ms > 0 && ms.is_multiple_of(*unit));
    let (unit, english, chinese) = found.unwrap_or(&(1, "ms", "毫秒"));
    format!("{} {}", ms / unit, language.pick(english, chinese))
}

/// The rules, a sentence each.
pub(super) fn rules(rules: &ContestRules, language: Language) -> Vec<String> {
    let limits = &rules.limits;
    let is_chinese = language == Language::Zh;
    let mut told = Vec::new();
    let mut tell = |english: String, chinese: String| {
        told.push(if is_chinese { chinese } else { english });
    };
    let (per_move, memory) = (time(rules.per_move, language), rules.memory_mib);
    tell(
        format!("A bot has {per_move} for a move, and {memory} MiB of memory."),
        format!("每步时限 {per_move}，内存 {memory} MiB。"),
    );
    let (counted, all) = (limits.counted, limits.all);
    tell(
        format!(
            "At most {counted} entries count, and at most {all} are taken with those that do not \
             build or start."
        ),
        format!("最多 {counted} 次提交计入成绩；连同构建或启动失败的，最多 {all} 次。"),
    );
    let kb = limits.upload / 1000;
    match limits.apart.is_zero() {
        true => tell(
            format!("An entry has at most {kb} KB."),
            format!("每次提交最大 {kb} KB。"),
        ),
        false => {
            let apart = time(limits.apart, language);
            tell(
                format!("One entry in {apart}, of at most {kb} KB."),
                format!("每次提交至少间隔 {apart}，最大 {kb} KB。"),
            );
        }
    }
    let counts = match rules.counts {
        Counts::Best => ("The best entry counts.", "取最好成绩。"),
        Counts::Last => ("The last entry counts.", "取最后一次成绩。"),
    };
    if rules.parts().next().is_some() {
        tell(counts.0.to_owned(), counts.1.to_owned());
    }
    match &rules.exam {
        ExamRules::Groups { groups } => tell(
            format!("The exam has {groups} groups of opponents; an entry is for one of them."),
            format!("对手分为 {groups} 组；每次提交针对其中一组。"),
        ),
        ExamRules::Cases(cases) => tell(
            format!("The exam has {} cases; an entry plays all.", cases.len()),
            format!("共有 {} 个测试点；每次提交全部评测。", cases.len()),
        ),
        ExamRules::None {} => {}
    }
    if let Some(gate) = limits.gate {
        tell(
            format!("A group may be tried once before the one below has brought {gate} points."),
            format!("前一组未达到 {gate} 分时，后一组只能尝试一次。"),
        );
    }
    if let Some(league) = &rules.league {
        let every = time(league.every, language);
        match &league.ladder {
            None => tell(
                format!(
                    "The newest valid entry of each contestant plays in a round of the league every \
                     {every}."
                ),
                format!("每 {every} 进行一轮联赛，由每位选手最新的有效程序参加。"),
            ),
            Some(ladder) => {
                tell(
                    format!(
                        "The newest valid entries play on a ladder: every {every} those of near \
                         ratings meet. A new version begins with the rating of the old one and a \
                         wide error."
                    ),
                    format!(
                        "最新的有效程序进行天梯赛：每 {every} 一轮，等级分相近者对局。新版本沿用旧版本的\
                         等级分，误差重新放宽。"
                    ),
                );
                if let Some(most) = ladder.games_a_day {
                    tell(
                        format!("Each plays at most {most} games on the ladder in a day."),
                        format!("每人每天最多进行 {most} 局天梯赛。"),
                    );
                }
                let challenges = ladder.challenges_a_day;
                if challenges > 0 {
                    tell(
                        format!(
                            "You may challenge others {challenges} times a day: you meet in the \
                             next round in which both are free."
                        ),
                        format!("每天可以挑战他人 {challenges} 次：双方都空闲的下一轮对局。"),
                    );
                }
            }
        }
        let quiet = league.quiet.iter().map(ToString::to_string);
        let quiet: Vec<String> = quiet.collect();
        if !quiet.is_empty() {
            let (times, zone) = (quiet.join(", "), &rules.zone);
            tell(
                format!("No round begins at {times} ({zone})."),
                format!("{times}（{zone}）不开始新的一轮。"),
            );
        }
    }
    if rules.r#final.is_some() {
        tell(
            "After the deadline the newest valid entry of each contestant plays in a final on \
             fresh deals."
                .to_owned(),
            "截止后每位选手最新的有效程序在新的牌局上进行决赛。".to_owned(),
        );
    }
    told
}

/// Why something is not taken.
pub(super) fn refusal(refusal: &Refusal) -> PageError {
    let chinese = match refusal {
        Refusal::NotOpen(from) => format!("{from} 起才接受提交"),
        Refusal::Disqualified(why) => format!("你已被取消资格：{why}"),
        Refusal::NoGroup(groups) => format!("请选择组：1 到 {groups}"),
        Refusal::NoGroups => "本竞赛不分组：请不要选择组".to_owned(),
        Refusal::TooLarge { most, found } => {
            format!("文件最大 {most} 字节，这个有 {found} 字节")
        }
        Refusal::TooSoon { apart, wait } => {
            let zh = Language::Zh;
            let wait = Duration::from_secs(wait.as_millis().div_ceil(1000) as u64);
            format!(
                "提交至少间隔 {}：请再等 {}",
                time(*apart, zh),
                time(wait, zh)
            )
        }
        Refusal::NoneLeft(counted) => format!("{counted} 次计分提交已用完"),
        Refusal::NoneAtAll(all) => format!("{all} 次提交已全部用完"),
        Refusal::Gate { group, gate, .. } => {
            format!(
                "第 {} 组未达到 {gate} 分时，第 {group} 组只能尝试一次",
                group - 1
            )
        }
    };
    let status = match refusal {
        Refusal::TooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
        Refusal::TooSoon { .. } => StatusCode::TOO_MANY_REQUESTS,
        _ => StatusCode::UNPROCESSABLE_ENTITY,
    };
    PageError::Refused(status, Words::new(refusal.to_string(), chinese))
}

/// Why a challenge is not taken.
pub(super) fn challenge_refusal(refusal: &ChallengeRefusal) -> PageError {
    let chinese = match refusal {
        ChallengeRefusal::NoLadder => "本竞赛没有天梯赛，不能挑战".to_owned(),
        ChallengeRefusal::NotNow(_) => "只有竞赛进行中才能挑战".to_owned(),
        ChallengeRefusal::Oneself => "不能挑战自己".to_owned(),
        ChallengeRefusal::Nobody(number) => format!("没有可以对局的选手 {number}"),
        ChallengeRefusal::NoEntry(number) => format!("选手 {number} 还没有有效的程序"),
        ChallengeRefusal::Waits(number) => format!("下一轮已安排与选手 {number} 对局"),
        ChallengeRefusal::NoneLeft(most) => format!("今天的 {most} 次挑战已用完"),
    };
    let words = Words::new(refusal.to_string(), chinese);
    PageError::Refused(StatusCode::UNPROCESSABLE_ENTITY, words)
}
