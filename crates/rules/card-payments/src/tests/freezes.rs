//! Freezes for disputes and early fraud warnings.

use super::world::{StripePayment, id};
use crate::*;

fn steps(payment: &StripePayment, rows: &[(&str, FreezeState)]) -> Vec<FreezeStep> {
    let rows: Vec<FreezeRow> =
        rows.iter().map(|(cause, state)| FreezeRow { cause: id(cause), state: *state }).collect();
    decide_freezes(&rows, &payment.facts())
}

fn disputed(status: &str) -> StripePayment {
    let mut payment = StripePayment::paid(1000);
    payment.dispute(1000, status, &[]);
    payment
}

#[test]
fn a_dispute_freezes_until_it_is_won() {
    let cause = "dp_pi_1_0";
    let freeze = vec![FreezeStep::Freeze(id(cause))];
    for status in ["needs_response", "under_review", "lost", "appeal_under_review"] {
        assert_eq!(steps(&disputed(status), &[]), freeze, "{status}");
        assert_eq!(steps(&disputed(status), &[(cause, FreezeState::Active)]), vec![]);
    }
    let active = [(cause, FreezeState::Active)];
    assert_eq!(steps(&disputed("won"), &active), vec![FreezeStep::EndByWin(id(cause))]);
    assert_eq!(steps(&disputed("won"), &[]), vec![]);
    let won = [(cause, FreezeState::EndedByWin)];
    assert_eq!(steps(&disputed("won"), &won), vec![]);
    assert_eq!(steps(&disputed("needs_response"), &won), freeze, "opened again");
}

#[test]
fn an_inquiry_freezes_nothing() {
    for status in ["warning_needs_response", "warning_under_review", "warning_closed", "prevented"]
    {
        assert_eq!(steps(&disputed(status), &[]), vec![], "{status}");
    }
}

#[test]
fn what_the_operator_has_ended_stays_ended() {
    let ended = [("dp_pi_1_0", FreezeState::EndedByOperator)];
    for status in ["needs_response", "lost", "won"] {
        assert_eq!(steps(&disputed(status), &ended), vec![], "{status}");
    }
}

#[test]
fn an_early_fraud_warning_freezes() {
    let mut payment = StripePayment::paid(1000);
    payment.warn();
    assert_eq!(steps(&payment, &[]), vec![FreezeStep::Freeze(id("issfr_1"))]);
    assert_eq!(steps(&payment, &[("issfr_1", FreezeState::Active)]), vec![]);
}
