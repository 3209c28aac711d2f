//! The ports in memory. The process can be killed before and after each effect.

use card_payments::{
    CardOrderId, FreezeRow, FreezeState, MovementKind, StripeCall, StripeId, StripeMethod,
};
use ledger_core::{BeyondPaid, CreditCommand, EntryId, PaymentNetwork};
use moment::Timestamp;
use money::Nano;
use stripe_double::DoubleRequest;

use super::world::{World, WorldState};
use crate::*;

/// Small, so that lists have several pages.
const PAGE_ROWS: usize = 3;

impl World {
    /// An effect between two moments at which the process can be killed.
    async fn effect<T>(&self, effect: impl FnOnce(&mut WorldState) -> T) -> T {
        self.kill.pass().await;
        let outcome = effect(&mut self.lock());
        self.kill.pass().await;
        outcome
    }
}

impl StripeApi for World {
    fn send<'a>(&'a self, call: &'a StripeCall) -> CardFuture<'a, StripeAnswer, StripeUnreached> {
        Box::pin(self.effect(move |state| {
            let method = match call.method {
                StripeMethod::Get => "GET",
                StripeMethod::Post => "POST",
                StripeMethod::Delete => "DELETE",
            };
            let request = DoubleRequest {
                authorization: Some("Bearer sk_test_double".to_owned()),
                version: Some(card_payments::STRIPE_VERSION.to_owned()),
                idempotency_key: call.idempotency_key.clone(),
                ..DoubleRequest::new(method, &call.path, call.form.as_deref().map(str::as_bytes))
            };
            state.calls += 1;
            let answer = state.double.answer(&request);
            Ok(StripeAnswer { status: answer.status, body: answer.body.to_string().into() })
        }))
    }
}

impl CardStore for World {
    fn commit(&self, writes: Vec<CardWrite>) -> CardFuture<'_, (), CardStoreFault> {
        Box::pin(self.effect(|state| {
            writes.into_iter().for_each(|write| state.write(write));
            Ok(())
        }))
    }

    fn find_order(
        &self,
        order: CardOrderId,
    ) -> CardFuture<'_, Option<CardOrderRow>, CardStoreFault> {
        Box::pin(self.effect(move |state| Ok(state.orders.get(&order).cloned())))
    }

    fn find_order_of_intent<'a>(
        &'a self,
        intent: &'a StripeId,
    ) -> CardFuture<'a, Option<CardOrderRow>, CardStoreFault> {
        Box::pin(self.effect(move |state| {
            let mut orders = state.orders.values();
            Ok(orders.find(|row| row.intent.as_ref() == Some(intent)).cloned())
        }))
    }

    fn list_unfinished(
        &self,
        since: Timestamp,
        after: Option<OrderCursor>,
    ) -> CardFuture<'_, Vec<CardOrderRow>, CardStoreFault> {
        Box::pin(self.effect(move |state| {
            let is_open = |row: &CardOrderRow| {
                [CardOrderState::Awaiting, CardOrderState::Processing].contains(&row.state)
                    && row.session.is_some()
            };
            Ok(state.list_orders(since, after, is_open))
        }))
    }

    fn list_payments_since(
        &self,
        since: Timestamp,
        after: Option<OrderCursor>,
    ) -> CardFuture<'_, Vec<CardOrderRow>, CardStoreFault> {
        Box::pin(
            self.effect(move |state| {
                Ok(state.list_orders(since, after, |row| row.intent.is_some()))
            }),
        )
    }

    fn list_freezes(&self, order: CardOrderId) -> CardFuture<'_, Vec<FreezeRow>, CardStoreFault> {
        Box::pin(self.effect(move |state| {
            let rows = state.freezes.iter().filter(|(of, _)| *of == order);
            Ok(rows.map(|(_, row)| row.clone()).collect())
        }))
    }

    fn list_pending_looks(&self) -> CardFuture<'_, Vec<PendingLook>, CardStoreFault> {
        Box::pin(self.effect(|state| {
            let looks = state.looks.iter();
            Ok(looks
                .map(|(target, notes)| PendingLook { target: target.clone(), notes: *notes })
                .collect())
        }))
    }

    fn find_pending_look<'a>(
        &'a self,
        target: &'a LookTarget,
    ) -> CardFuture<'a, Option<PendingLook>, CardStoreFault> {
        Box::pin(self.effect(move |state| {
            let notes = state.looks.get(target);
            Ok(notes.map(|notes| PendingLook { target: target.clone(), notes: *notes }))
        }))
    }

    fn events_cursor(&self) -> CardFuture<'_, Option<Timestamp>, CardStoreFault> {
        Box::pin(self.effect(|state| Ok(state.cursor)))
    }
}

impl CardLedger for World {
    fn move_money(&self, order: MoneyMove) -> CardFuture<'_, (), CardStoreFault> {
        Box::pin(self.effect(move |state| {
            let MoneyMove { order, owner, movement } = order;
            if !state.entries.insert(movement.entry) {
                return Ok(());
            }
            let network = PaymentNetwork::parse("stripe").unwrap();
            let (entry, amount) = (movement.entry, movement.amount);
            let (given, beyond) = (Nano::ZERO, BeyondPaid::Owe);
            state.run(&match movement.kind {
                MovementKind::Credit => CreditCommand::TopUp { entry, owner, network, amount },
                MovementKind::GiveBack => CreditCommand::Restore { entry, owner, network, amount },
                MovementKind::TakeBack => {
                    CreditCommand::Reverse { entry, owner, network, amount, given, beyond }
                }
            });
            let row = state.orders.get_mut(&order).unwrap();
            assert_eq!(row.books.revision + 1, movement.books.revision, "a transaction would fail");
            row.books = movement.books;
            Ok(())
        }))
    }

    fn collect_debts(&self) -> CardFuture<'_, (), CardStoreFault> {
        Box::pin(self.effect(|state| {
            for owner in state.ledger.debtors() {
                let entry = EntryId(state.fresh_id());
                state.run(&CreditCommand::CollectDebt { entry, owner, given: Nano::ZERO });
            }
            Ok(())
        }))
    }
}

impl WorldState {
    fn write(&mut self, write: CardWrite) {
        match write {
            CardWrite::AddOrder(row) => assert!(self.orders.insert(row.id, row).is_none()),
            CardWrite::NoteSession { order, session } => {
                self.orders.get_mut(&order).unwrap().session = Some(session);
            }
            CardWrite::BindIntent { order, intent } => {
                self.orders.get_mut(&order).unwrap().intent.get_or_insert(intent);
            }
            CardWrite::NoteState { order, state } => {
                self.orders.get_mut(&order).unwrap().state = state;
            }
            CardWrite::NoteMismatch { intent, mismatch, .. } => {
                self.mismatches.insert(intent, mismatch);
            }
            CardWrite::DropMismatch { intent } => {
                self.mismatches.remove(&intent);
            }
            CardWrite::NoteLook(target) => {
                let notes = self.next_note();
                self.looks.insert(target, notes);
            }
            CardWrite::DropLook(PendingLook { target, notes }) => {
                if self.looks.get(&target) == Some(&notes) {
                    self.looks.remove(&target);
                }
            }
            CardWrite::SetEventsCursor(cursor) => self.cursor = Some(cursor),
            CardWrite::AddFreeze { order, cause, .. } => {
                self.freezes.retain(|(_, row)| row.cause != cause);
                self.freezes.push((order, FreezeRow { cause, state: FreezeState::Active }));
            }
            CardWrite::EndFreezeByWin { cause } => {
                let frozen = self.freezes.iter_mut().find(|(_, row)| row.cause == cause);
                frozen.unwrap().1.state = FreezeState::EndedByWin;
            }
        }
    }

    fn list_orders(
        &self,
        since: Timestamp,
        after: Option<OrderCursor>,
        is_listed: impl Fn(&CardOrderRow) -> bool,
    ) -> Vec<CardOrderRow> {
        let mut rows: Vec<&CardOrderRow> =
            self.orders.values().filter(|row| since <= row.created && is_listed(row)).collect();
        rows.sort_by_key(|row| row.cursor());
        let later = rows.into_iter().filter(|row| after.is_none_or(|after| after < row.cursor()));
        later.take(PAGE_ROWS).cloned().collect()
    }
}
