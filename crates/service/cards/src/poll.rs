//! The poller: finds what webhooks have missed.

use std::collections::BTreeSet;
use std::time::Duration;

use card_payments::{EVENTS_KEPT_S, StripeCall, StripeEvent, StripeId, StripeList};
use moment::Timestamp;

use crate::look::LookFault;
use crate::rows::{CardWrite, LookTarget};
use crate::service::CardService;

/// Events that are read again, because Stripe may list an event later than one that is newer.
const EVENTS_OVERLAP: Duration = Duration::from_secs(600);
/// A service that was away for longer than Stripe keeps events looks at the payments of this time:
/// disputes are possible for 120 days, and their decision takes up to three months.
const PAYMENTS_LOOKED_AT: Duration = Duration::from_secs(240 * 86_400);

/// Orders older than this are looked at only when an event names them. A session is open for a day,
/// and a bank debit is decided within two weeks.
const UNFINISHED_LOOKED_AT: Duration = Duration::from_secs(30 * 86_400);

/// The events of the overlap that were read in the last round, by id: a look is not repeated for
/// them. Lost with the process, which costs a few looks.
#[derive(Debug, Default)]
pub(crate) struct SeenEvents {
    ids: BTreeSet<StripeId>,
}

/// The result of a round.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CardPollSummary {
    pub looks: usize,
    /// Looks that will be repeated in the next round.
    pub failed: usize,
}

impl CardService {
    /// Reads the new events, looks at what is stored to look at and at orders that are not paid yet,
    /// and collects debts. A failed look is repeated in the next round; one payment that cannot be
    /// looked at does not keep the others.
    pub async fn poll(&self) -> Result<CardPollSummary, LookFault> {
        self.note_new_events().await?;
        let mut summary = CardPollSummary::default();
        for pending in self.parts.store.list_pending_looks().await? {
            let target = pending.target.clone();
            summary.count(self.look_at_pending(pending).await, &target);
        }
        self.look_at_unfinished(&mut summary).await?;
        self.parts.ledger.collect_debts().await?;
        Ok(summary)
    }

    /// Stores what the events since the last round say to look at. The cursor moves last, so that no
    /// event is skipped after a crash.
    async fn note_new_events(&self) -> Result<(), LookFault> {
        let now = self.parts.clock.now();
        let Some(cursor) = self.parts.store.events_cursor().await? else {
            return self.note_all_payments(now, now).await;
        };
        if Duration::from_secs(EVENTS_KEPT_S) < now.since(cursor) {
            self.note_all_payments(now, now).await?;
        }
        let mut seen = self.seen.lock().await;
        let since = cursor.minus(EVENTS_OVERLAP);
        let (mut newest, mut ids) = (cursor, BTreeSet::new());
        let mut after = None;
        loop {
            let call = StripeCall::list_events(since, after.as_ref());
            let page = self.fetch(&call, StripeList::parse_events).await?;
            let StripeList { items, has_more } = page.unwrap_or(StripeList::empty());
            let page_newest = items.iter().map(|event| event.created).max();
            newest = page_newest.map_or(newest, |created| created.max(newest));
            ids.extend(items.iter().map(|event| event.id.clone()));
            after = items.last().map(|event| event.id.clone());
            self.note_events(items, &seen.ids).await?;
            if !has_more || after.is_none() {
                break;
            }
        }
        if cursor < newest {
            self.parts.store.commit(vec![CardWrite::SetEventsCursor(newest)]).await?;
        }
        seen.ids = ids;
        Ok(())
    }

    /// Stores what events say to look at, without those that were noted before.
    async fn note_events(
        &self,
        events: Vec<StripeEvent>,
        seen: &BTreeSet<StripeId>,
    ) -> Result<(), LookFault> {
        let own = events.into_iter().filter(|event| event.mode == self.settings.mode);
        let new = own.filter(|event| !seen.contains(&event.id));
        let targets: BTreeSet<LookTarget> =
            new.filter_map(|event| LookTarget::of_event(event.target)).collect();
        let writes: Vec<CardWrite> = targets.into_iter().map(CardWrite::NoteLook).collect();
        if !writes.is_empty() {
            self.parts.store.commit(writes).await?;
        }
        Ok(())
    }

    /// Stores all payments that can still change as targets, and sets the cursor.
    async fn note_all_payments(&self, now: Timestamp, cursor: Timestamp) -> Result<(), LookFault> {
        let since = now.minus(PAYMENTS_LOOKED_AT);
        let mut after = None;
        loop {
            let page = self.parts.store.list_payments_since(since, after).await?;
            let Some(last) = page.last() else { break };
            after = Some(last.cursor());
            let intents = page.into_iter().filter_map(|row| row.intent);
            let writes = intents.map(|intent| CardWrite::NoteLook(LookTarget::Intent(intent)));
            self.parts.store.commit(writes.collect()).await?;
        }
        Ok(self.parts.store.commit(vec![CardWrite::SetEventsCursor(cursor)]).await?)
    }

    /// Looks at the orders that may have been paid, in case their events were lost.
    async fn look_at_unfinished(&self, summary: &mut CardPollSummary) -> Result<(), LookFault> {
        let since = self.parts.clock.now().minus(UNFINISHED_LOOKED_AT);
        let mut after = None;
        loop {
            let page = self.parts.store.list_unfinished(since, after).await?;
            let Some(last) = page.last() else { return Ok(()) };
            after = Some(last.cursor());
            for row in page {
                let Some(session) = row.session else { continue };
                let looked = self.look_at_session(&session).await;
                summary.count(looked, &LookTarget::Session(session));
            }
        }
    }
}

impl CardPollSummary {
    fn count(&mut self, looked: Result<(), LookFault>, target: &LookTarget) {
        self.looks += 1;
        if let Err(fault) = looked {
            self.failed += 1;
            tracing::warn!(?target, "a payment could not be looked at: {fault}");
        }
    }
}
