//! The state of wallets: sign-in rules, payments, and the number of requests in progress.

pub(crate) mod challenge;
mod payers;
mod replays;
pub(crate) mod sign_in;
pub mod visits;

use payments::Payments;
use wallet::{Requirement, SignInRules, TokenSecret};
use wire::x402::PaymentOption;

use crate::wallets::payers::KnownPayers;
use crate::wallets::replays::Replays;
use crate::wallets::visits::Visits;

/// Configuration and state of wallets.
pub struct Wallets {
    pub(crate) rules: SignInRules,
    /// None: payments are not accepted. Wallets with a balance may still spend it.
    pub(crate) payments: Option<Payments>,
    pub(crate) token_secret: TokenSecret,
    pub(crate) visits: Visits,
    replays: Replays,
    payers: KnownPayers,
}

impl Wallets {
    pub fn new(
        rules: SignInRules,
        payments: Option<Payments>,
        token_secret: TokenSecret,
    ) -> Wallets {
        Wallets {
            rules,
            payments,
            token_secret,
            visits: Visits::default(),
            replays: Replays::default(),
            payers: KnownPayers::default(),
        }
    }

    /// All ways to pay; empty if payments are not accepted.
    pub(crate) fn accepts(&self) -> Vec<PaymentOption> {
        self.payments.iter().flat_map(Payments::accepts).map(option).collect()
    }
}

fn option(requirement: Requirement) -> PaymentOption {
    PaymentOption {
        scheme: requirement.scheme,
        network: requirement.network,
        amount: requirement.amount,
        asset: requirement.asset,
        pay_to: requirement.pay_to,
        max_timeout_seconds: requirement.max_timeout_seconds,
        extra: requirement.extra,
    }
}
