//! What a crash leaves: Stripe, the rows of the store, and the journal of a real ledger core.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use card_payments::{
    CardOrderId, CheckoutOptions, FreezeRow, FreezeState, OrderMismatch, StripeId, StripeMode,
    UsdCents, WebhookSecret,
};
use ledger_core::{
    CreditCommand, CreditLedger, EntryId, HoldId, HoldKind, HoldPayer, HoldRange, LedgerRules,
    OwnerId, PaidFunds, SystemKind, check_ledger,
};
use moment::{Clock, Timestamp};
use money::Nano;
use stripe_double::{DoubleSettings, StripeDouble, sign_webhook};
use uuid::Uuid;

use super::kill_switch::KillSwitch;
use crate::*;

const SECRET: &str = "whsec_test";

pub(super) struct World {
    pub(super) kill: KillSwitch,
    state: Mutex<WorldState>,
}

pub(super) struct WorldState {
    pub(super) now: Timestamp,
    pub(super) double: StripeDouble,
    pub(super) orders: BTreeMap<CardOrderId, CardOrderRow>,
    pub(super) mismatches: BTreeMap<StripeId, OrderMismatch>,
    pub(super) looks: BTreeMap<LookTarget, u64>,
    pub(super) cursor: Option<Timestamp>,
    pub(super) freezes: Vec<(CardOrderId, FreezeRow)>,
    pub(super) ledger: CreditLedger,
    pub(super) entries: BTreeSet<EntryId>,
    /// The number of requests to Stripe.
    pub(super) calls: usize,
    notes: u64,
    ids: u128,
}

/// The position of an owner.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Position {
    pub(super) left: i64,
    pub(super) debt: i64,
}

impl World {
    pub(super) fn new() -> Arc<World> {
        let state = WorldState {
            now: Timestamp::from_ms(1_795_000_000_000),
            double: StripeDouble::new(DoubleSettings::default()),
            orders: BTreeMap::new(),
            mismatches: BTreeMap::new(),
            looks: BTreeMap::new(),
            cursor: None,
            freezes: Vec::new(),
            ledger: CreditLedger::new(LedgerRules::default()),
            entries: BTreeSet::new(),
            calls: 0,
            notes: 0,
            ids: 1 << 64,
        };
        Arc::new(World { kill: KillSwitch::default(), state: Mutex::new(state) })
    }

    /// The state, with Stripe's clock at our time.
    pub(super) fn lock(&self) -> MutexGuard<'_, WorldState> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let now_s = state.now.seconds();
        state.double.set_time(now_s);
        state
    }

    /// A service process that has just started.
    pub(super) fn start(self: &Arc<World>, adds_tax: bool) -> CardService {
        CardService::new(self.parts(self.clone()), settings(adds_tax))
    }

    /// A service with another client of Stripe.
    pub(super) fn start_with(self: &Arc<World>, stripe: Arc<dyn StripeApi>) -> CardService {
        CardService::new(self.parts(stripe), settings(false))
    }

    fn parts(self: &Arc<World>, stripe: Arc<dyn StripeApi>) -> CardParts {
        CardParts { stripe, store: self.clone(), ledger: self.clone(), clock: self.clone() }
    }

    pub(super) async fn checkout(
        &self,
        service: &CardService,
        owner: u128,
        cents: u32,
    ) -> Option<String> {
        let order = self.lock().fresh_id();
        let request = CheckoutRequest {
            order,
            owner: OwnerId(Uuid::from_u128(owner)),
            amount: UsdCents::from_cents(cents),
            return_url: None,
            email: None,
        };
        let page = self.kill.run(service.create_checkout(&request)).await?.ok()?;
        Some(page.url.rsplit('/').next().unwrap().to_owned())
    }

    /// Delivers a webhook and looks at what it says. False if it was not acknowledged.
    pub(super) async fn deliver(&self, service: &CardService, body: &str) -> bool {
        let signature = sign_webhook(SECRET, self.lock().now.seconds(), body.as_bytes());
        let receiving = service.receive_webhook(&signature, body.as_bytes());
        let Some(Ok(target)) = self.kill.run(receiving).await else { return false };
        if let Some(target) = target {
            self.kill.run(service.look_at_noted(&target)).await;
        }
        true
    }
}

impl Clock for World {
    fn now(&self) -> Timestamp {
        self.lock().now
    }
}

impl WorldState {
    pub(super) fn fresh_id(&mut self) -> Uuid {
        self.ids += 1;
        Uuid::from_u128(self.ids)
    }

    pub(super) fn run(&mut self, command: &CreditCommand) {
        let now = self.now;
        self.ledger.apply(command, now).unwrap();
        check_ledger(&self.ledger).unwrap();
    }

    /// Spends up to `amount` of an owner, and returns what was spent.
    pub(super) fn spend(&mut self, owner: u128, amount: i64) -> i64 {
        let (hold, entry) = (HoldId(self.fresh_id()), EntryId(self.fresh_id()));
        let payer = HoldPayer { owner: OwnerId(Uuid::from_u128(owner)), key: None };
        let want =
            HoldRange::UpTo { least: Nano::ZERO.into(), most: Nano::from_nanos(amount).into() };
        self.run(&CreditCommand::Hold { hold, payer, want, kind: HoldKind::Request });
        let held = self.ledger.held_amount(hold).unwrap();
        self.run(&CreditCommand::Settle { entry, hold, cost: held.into() });
        held.nanos()
    }

    pub(super) fn position(&self, owner: u128) -> Position {
        let owner = OwnerId(Uuid::from_u128(owner));
        let PaidFunds { left, debt } = self.ledger.paid_funds(owner, Nano::ZERO);
        Position { left: left.nanos(), debt: debt.nanos() }
    }

    /// The cash that the operator has.
    pub(super) fn cash(&self) -> i128 {
        let systems = self.ledger.to_snapshot().systems.into_iter();
        let cash = systems.filter(|row| matches!(row.account.kind, SystemKind::Cash(_)));
        cash.map(|row| row.columns.debits - row.columns.credits).sum()
    }

    /// The causes for which owners are frozen, sorted.
    pub(super) fn frozen_for(&self) -> Vec<String> {
        let active = self.freezes.iter().filter(|(_, row)| row.state == FreezeState::Active);
        let mut causes: Vec<String> = active.map(|(_, row)| row.cause.to_string()).collect();
        causes.sort();
        causes
    }

    pub(super) fn next_note(&mut self) -> u64 {
        self.notes += 1;
        self.notes
    }
}

fn settings(adds_tax: bool) -> CardSettings {
    CardSettings {
        mode: StripeMode::Test,
        webhook_secret: WebhookSecret::parse(SECRET).unwrap(),
        public_url: "https://api.example.com/".to_owned(),
        product: "Credit".to_owned(),
        least: UsdCents::from_cents(500),
        most: UsdCents::from_cents(500_000),
        options: CheckoutOptions { adds_tax, ..CheckoutOptions::default() },
    }
}
