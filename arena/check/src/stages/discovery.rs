//! Stage `discovery`: health, reflection, and a service that the bot does not have.

use arena_events::check::FindingName;
use bytes::Bytes;
use referee::{Health, Probe};
use referee_core::{Foul, Seat};
use referee_games::{Question, SeatReply};

use crate::{
    error::{CheckError, Halt},
    evidence::{Evidence, UnknownServiceReply},
    examiner::{AT_ONCE, Examiner},
    report::StageOutcome,
    subject::Subject,
};

/// A service that no bot has.
const NO_SUCH_SERVICE: &str = "/arena.check.v1.NoSuchService/Play";

pub(super) async fn discovery(
    examiner: &mut Examiner<'_>,
    subject: &Subject,
) -> Result<StageOutcome, Halt> {
    let outcome = discover(examiner, subject).await?;
    if outcome.findings.is_empty() {
        return Ok(outcome);
    }
    // It may have ended because of the game before.
    if examiner.host.has_ended().await {
        return discover(examiner, subject).await;
    }
    if !examiner.host.is_started_by_us() {
        examiner.host.renew().await;
        examiner.host.running().await?;
    }
    Ok(outcome)
}

async fn discover(examiner: &mut Examiner<'_>, subject: &Subject) -> Result<StageOutcome, Halt> {
    let largest = examiner.options.limits.answer_bytes;
    let probe = examiner.host.probe().await?;
    let service = subject.kind.path().trim_start_matches('/');
    let service = service.split('/').next().unwrap_or(service);
    let mut findings = Vec::new();
    for of in ["", service] {
        let reply = probe.health(of, AT_ONCE).await;
        if reply != Health::Serving {
            let evidence = Evidence::Health {
                service: of.to_owned(),
                reply,
                limit: AT_ONCE,
            };
            findings.push(subject.finding(FindingName::NoHealth, evidence));
            break;
        }
    }
    let missing = match probe.services(AT_ONCE).await {
        Ok(services) if services.iter().any(|one| one == service) => None,
        Ok(services) => Some(Evidence::ListedServices(services)),
        Err(why) => Some(Evidence::ReflectionFailed(why)),
    };
    findings.extend(missing.map(|what| subject.finding(FindingName::NoReflection, what)));
    if let Some(reply) = unknown_service(probe, largest).await? {
        let evidence = Evidence::UnknownService(reply);
        findings.push(subject.finding(FindingName::UnknownService, evidence));
    }
    Ok(StageOutcome::found(findings))
}

/// The reply that came instead of UNIMPLEMENTED.
async fn unknown_service(
    probe: &Probe,
    largest: usize,
) -> Result<Option<UnknownServiceReply>, CheckError> {
    /// UNIMPLEMENTED, as a number.
    const UNIMPLEMENTED: i32 = 12;
    let question = Question {
        seat: Seat::new(0),
        number: 0,
        limit: AT_ONCE,
        call: Bytes::new(),
    };
    let mut stream = probe.open(NO_SUCH_SERVICE, largest);
    Ok(match stream.ask(question).await?.heard {
        SeatReply::Foul(Foul::Unsupported { .. }) => None,
        SeatReply::Foul(Foul::ErrorStatus { code, .. }) if code == UNIMPLEMENTED => None,
        SeatReply::Foul(foul) => Some(UnknownServiceReply::Foul(foul)),
        SeatReply::Answer(_) => Some(UnknownServiceReply::Answer),
        SeatReply::Nothing => Some(UnknownServiceReply::Silent(AT_ONCE)),
    })
}
