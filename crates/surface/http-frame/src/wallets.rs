//! The state of wallets: sign-in rules, payments, and the number of requests in progress.

pub mod concurrency;
mod payers;
mod recent_nonces;

use payments::PaymentService;
use wallet::{PaymentRequirement, SignInRules, TokenSecret};
use wire::x402::PaymentOption;

use crate::wallets::concurrency::WalletConcurrency;
use crate::wallets::payers::WalletsWithBalance;
use crate::wallets::recent_nonces::RecentNonces;

/// Configuration and state of wallets.
pub struct WalletState {
    pub(crate) rules: SignInRules,
    /// None: payments are not accepted. Wallets with a balance may still spend it.
    pub payments: Option<PaymentService>,
    pub token_secret: TokenSecret,
    pub(crate) visits: WalletConcurrency,
    pub(crate) replays: RecentNonces,
    pub(crate) payers: WalletsWithBalance,
}

impl WalletState {
    pub fn new(
        rules: SignInRules,
        payments: Option<PaymentService>,
        token_secret: TokenSecret,
    ) -> WalletState {
        WalletState {
            rules,
            payments,
            token_secret,
            visits: WalletConcurrency::default(),
            replays: RecentNonces::default(),
            payers: WalletsWithBalance::default(),
        }
    }

    /// All ways to pay; empty if payments are not accepted.
    pub fn accepts(&self) -> Vec<PaymentOption> {
        self.payments.iter().flat_map(PaymentService::accepts).map(to_payment_option).collect()
    }
}

fn to_payment_option(requirement: PaymentRequirement) -> PaymentOption {
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
