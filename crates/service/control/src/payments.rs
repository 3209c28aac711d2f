//! Operations on payments: list, show, recheck on the chain, and write off.

use std::pin::Pin;

use money::Nano;
use store::claim::{CLAIMS_MAX, ClaimId, ClaimState, ClaimStep, PaymentClaim};
use store::write::{StoreWrite, WriteGroup};

use crate::actor::AuditActor;
use crate::audit::check_reason;
use crate::operation::OperationError;
use crate::reply::{PaymentLine, PaymentReport};
use crate::service::ControlService;

/// A payment id is this prefix and 40 hexadecimal digits.
const ID_PREFIX: &str = "pay_";
/// Nano-dollars per base unit of USDC.
const NANOS_PER_UNIT: i64 = 1000;

/// Actions on payments that need a running service: it has the chain nodes, and knows which
/// payments are being processed.
pub trait PaymentActions: Send + Sync {
    /// Queries the chain and credits a confirmed payment. Returns a message with the result, or the
    /// reason why it is not possible.
    fn recheck(&self, claim: ClaimId) -> PaymentActionFuture<'_>;

    /// Abandons an unfinished payment and writes `also` in the same group.
    fn abandon(&self, claim: ClaimId, also: Vec<StoreWrite>) -> PaymentActionFuture<'_>;
}

pub type PaymentActionFuture<'a> =
    Pin<Box<dyn Future<Output = Result<String, OperationError>> + Send + 'a>>;

impl ControlService {
    pub(crate) async fn list_payments(
        &self,
        state: Option<&str>,
        limit: usize,
    ) -> Result<Vec<PaymentLine>, OperationError> {
        let state = match state {
            None => None,
            Some(name) => {
                let known = ClaimState::parse(&name.to_ascii_uppercase());
                Some(known.ok_or_else(|| unknown_state(name))?)
            }
        };
        let claims = self.store.list_claims(state, limit.clamp(1, CLAIMS_MAX)).await?;
        let mut lines = Vec::with_capacity(claims.len());
        let (missing, received) = self.in_trouble().await?;
        for claim in &claims {
            lines.push(to_payment_line(claim, describe_trouble(claim, &missing, &received)));
        }
        Ok(lines)
    }

    pub(crate) async fn show_payment(&self, id: &str) -> Result<PaymentReport, OperationError> {
        let claim = self.find_payment(id).await?;
        let (missing, received) = self.in_trouble().await?;
        let trouble = describe_trouble(&claim, &missing, &received);
        Ok(build_payment_report(&claim, trouble, None))
    }

    pub(crate) async fn recheck_payment(
        &self,
        by: &AuditActor,
        id: &str,
    ) -> Result<PaymentReport, OperationError> {
        let claim = self.find_payment(id).await?;
        let Some(desk) = self.payments.get() else { return Err(not_running()) };
        let was = claim.state;
        let found = desk.recheck(claim.id).await?;
        let claim = self.find_payment(id).await?;
        if was != claim.state {
            let detail = format!("{} → {}", was.name(), claim.state.name());
            let told =
                self.build_audit_row(by, "payments recheck", &format_payment_id(claim.id), detail);
            self.store.commit(WriteGroup::from_write(told)).await?;
        }
        let (missing, received) = self.in_trouble().await?;
        let trouble = describe_trouble(&claim, &missing, &received);
        Ok(build_payment_report(&claim, trouble, Some(found)))
    }

    /// Removes a payment from the list of problems, or abandons an unfinished one. The ledger does
    /// not change: credited amounts stay credited, and money received for a failed payment stays
    /// unassigned.
    pub(crate) async fn write_off_payment(
        &self,
        by: &AuditActor,
        id: &str,
        reason: &str,
    ) -> Result<PaymentReport, OperationError> {
        let reason = check_reason(reason)?;
        let claim = self.find_payment(id).await?;
        let (missing, received) = self.in_trouble().await?;
        let amount = format_dollars(&claim);
        let told = |what: &str| {
            let detail = format!("{amount} USD, {what}: {reason}");
            self.build_audit_row(by, "payments write-off", &format_payment_id(claim.id), detail)
        };
        if missing.contains(&claim.id) {
            let told = told("credited and missing on its chain");
            let writes = vec![StoreWrite::NoteFoundClaim(claim.id), told];
            self.store.commit(WriteGroup { writes }).await?;
        } else if received.contains(&claim.id) {
            let told = told("received for a failed payment and not credited");
            let writes = vec![StoreWrite::DropReceivedClaim(claim.id), told];
            self.store.commit(WriteGroup { writes }).await?;
        } else {
            self.give_up(&claim, told(claim.state.name())).await?;
        }
        self.show_payment(id).await
    }

    async fn give_up(&self, claim: &PaymentClaim, told: StoreWrite) -> Result<(), OperationError> {
        let step = ClaimStep::Fail { reason: "written_off".to_owned() };
        if !step.is_allowed_from(claim.state) {
            return Err(OperationError::Refused(format!(
                "the payment is {}: there is nothing to write off",
                claim.state.name()
            )));
        }
        match self.payments.get() {
            Some(desk) => desk.abandon(claim.id, vec![told]).await.map(drop),
            // No other task processes the payment while the service is stopped.
            None => {
                let (from, at) = (claim.state, self.clock.now());
                let fail = StoreWrite::AdvanceClaim { claim: claim.id, from, step, at };
                Ok(self.store.commit(WriteGroup { writes: vec![fail, told] }).await?)
            }
        }
    }

    async fn find_payment(&self, id: &str) -> Result<PaymentClaim, OperationError> {
        let claim = parse_payment_id(id).ok_or_else(|| {
            OperationError::Refused(format!(
                "`{id}` is not a payment id: {ID_PREFIX} and 40 hexadecimal digits"
            ))
        })?;
        let found = self.store.claim(claim).await?;
        found.ok_or_else(|| {
            let message = format!("there is no payment {id}; failed ones are kept for seven days");
            OperationError::Refused(message)
        })
    }

    async fn in_trouble(&self) -> Result<(Vec<ClaimId>, Vec<ClaimId>), OperationError> {
        let ids = |claims: Vec<PaymentClaim>| claims.iter().map(|claim| claim.id).collect();
        let missing = self.store.missing_claims().await?;
        Ok((ids(missing), ids(self.store.received_claims().await?)))
    }
}

fn describe_trouble(
    claim: &PaymentClaim,
    missing: &[ClaimId],
    received: &[ClaimId],
) -> Option<&'static str> {
    if missing.contains(&claim.id) {
        return Some("credited, and missing on its chain");
    }
    received.contains(&claim.id).then_some("failed, and its money arrived later")
}

fn to_payment_line(claim: &PaymentClaim, trouble: Option<&str>) -> PaymentLine {
    PaymentLine {
        id: format_payment_id(claim.id),
        state: claim.state.name().to_owned(),
        network: claim.network.clone(),
        payer: claim.payer.clone(),
        amount_usd: format_dollars(claim),
        created_at: claim.created.to_string(),
        changed_at: claim.changed.to_string(),
        trouble: trouble.map(str::to_owned),
    }
}

fn build_payment_report(
    claim: &PaymentClaim,
    trouble: Option<&str>,
    found: Option<String>,
) -> PaymentReport {
    PaymentReport {
        line: to_payment_line(claim, trouble),
        pay_to: claim.pay_to.clone(),
        asset: claim.asset.clone(),
        transaction: claim.sent.transaction.clone(),
        replaced: claim.sent.replaced.clone(),
        sent_at: claim.sent_at.map(|at| at.to_string()),
        entry: claim.credit.map(|credit| credit.entry.0),
        credited_usd: claim.credit.map(|credit| credit.amount.to_string()),
        reason: claim.reason.clone(),
        found,
    }
}

/// The credited amount if known, otherwise the signed amount.
fn format_dollars(claim: &PaymentClaim) -> String {
    let signed = i64::try_from(claim.units).unwrap_or(i64::MAX).saturating_mul(NANOS_PER_UNIT);
    claim.credit.map_or(Nano::from_nanos(signed), |credit| credit.amount).to_string()
}

fn format_payment_id(claim: ClaimId) -> String {
    format!("{ID_PREFIX}{}", hex::encode(claim.0))
}

fn parse_payment_id(id: &str) -> Option<ClaimId> {
    let digits = id.strip_prefix(ID_PREFIX)?;
    let mut claim = ClaimId([0; 20]);
    hex::decode_to_slice(digits, &mut claim.0).ok()?;
    Some(claim)
}

fn unknown_state(name: &str) -> OperationError {
    OperationError::Refused(format!(
        "there is no state `{name}`; choose from verified, submitted, unknown, credited, failed"
    ))
}

fn not_running() -> OperationError {
    OperationError::Refused(
        "only a running service that takes payments can ask their chains: start it, with [x402] in \
         its configuration"
            .to_owned(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payment_is_found_by_the_name_that_is_shown() {
        let claim = ClaimId([0xA7; 20]);
        assert_eq!(parse_payment_id(&format_payment_id(claim)), Some(claim));
        for wrong in ["", "pay_", "pay_a7", &format_payment_id(claim)[4..], "pay_é"] {
            assert_eq!(parse_payment_id(wrong), None, "{wrong}");
        }
        assert_eq!(parse_payment_id(&format!("pay_{}", "zz".repeat(20))), None);
    }
}
