//! Signing in: the header is judged, its nonce is used up, and its wallet's account is found.

use std::sync::Arc;

use access::wallets::{self, NonceRefused};
use access::{Holder, Proof};
use axum::http::{HeaderMap, HeaderName};
use moment::Timestamp;
use settle::TopUpRefused;
use wallet::{ContractCheck, SignIn, SignInRefusal, SignedIn, Verdict, verify_sign_in};

use crate::app::App;
use crate::caller::{Arrival, Principal};
use crate::refusal::render::BoxError;

/// The legacy name is accepted during migration.
static HEADERS: [HeaderName; 2] =
    [HeaderName::from_static("sign-in-with-x"), HeaderName::from_static("x-sign-in-with-x")];

/// Why a caller is not signed in.
#[derive(Debug)]
pub(crate) enum SignInFailed {
    Refused(SignInRefusal),
    /// Whether the sign-in is good could not be found out.
    Unknowable(BoxError),
}

impl From<SignInRefusal> for SignInFailed {
    fn from(refusal: SignInRefusal) -> SignInFailed {
        SignInFailed::Refused(refusal)
    }
}

/// Whether a caller tries to sign in at all.
pub(crate) fn is_shown(headers: &HeaderMap) -> bool {
    HEADERS.iter().any(|name| headers.contains_key(name))
}

/// The wallet that signed. The nonce is used up once the signature is known to be good, whatever
/// becomes of the request.
pub(crate) async fn sign_in(app: &App, arrival: &Arrival<'_>) -> Result<Arc<Holder>, SignInFailed> {
    let now = arrival.now;
    let header = header(arrival.headers).ok_or(SignInRefusal::InvalidPayload)?;
    let sign_in = SignIn::decode(header)?;
    let signed_in = match verify_sign_in(&app.wallets.rules, &sign_in, now)? {
        Verdict::Verified(signed_in) => signed_in,
        Verdict::NeedsContractCheck(unconfirmed) => {
            // Whoever guesses is not worth a question to the chain.
            let blocked = app.failures.blocked_until(&Principal::Address(arrival.address), now);
            if blocked.is_some()
                || !is_confirmed(app, &unconfirmed.check).await.map_err(unknowable)?
            {
                return Err(SignInRefusal::InvalidSignature.into());
            }
            unconfirmed.confirmed_by_contract()
        }
    };
    let wallet = signed_in.wallet;
    use_nonce(app, signed_in, now).await?;
    let store = app.store.as_ref();
    let owner = wallets::owner(store, wallet, now).await.map_err(unknowable)?;
    Ok(Arc::new(Holder { proof: Proof::Wallet(wallet), owner }))
}

/// The store decides; whatever it has seen just now need not be asked for again.
async fn use_nonce(app: &App, signed_in: SignedIn, now: Timestamp) -> Result<(), SignInFailed> {
    let SignedIn { wallet, nonce, remember_nonce_until: until, .. } = signed_in;
    let replays = &app.wallets.replays;
    let known = (wallet, nonce.clone());
    if replays.knows(&known) {
        return Err(SignInRefusal::NonceReused.into());
    }
    match wallets::use_nonce(app.store.as_ref(), wallet, nonce, until).await {
        Ok(()) => {
            replays.note(known, until, now);
            Ok(())
        }
        Err(NonceRefused::Reused) => {
            replays.note(known, until, now);
            Err(SignInRefusal::NonceReused.into())
        }
        Err(NonceRefused::Unknowable(error)) => Err(unknowable(error)),
    }
}

fn unknowable(cause: impl Into<BoxError>) -> SignInFailed {
    SignInFailed::Unknowable(cause.into())
}

/// Whether a contract wallet says that a signature is its own. Where no node can be asked, no
/// contract's word can be had.
pub(crate) async fn is_confirmed(app: &App, check: &ContractCheck) -> Result<bool, TopUpRefused> {
    match &app.wallets.payments {
        Some(payments) => payments.contract_confirms(check).await,
        None => Ok(false),
    }
}

/// The value of the one header that counts; none if it was sent twice.
fn header(headers: &HeaderMap) -> Option<&[u8]> {
    let name = HEADERS.iter().find(|name| headers.contains_key(*name))?;
    let mut values = headers.get_all(name).iter();
    let value = values.next()?;
    if values.next().is_some() { None } else { Some(value.as_bytes()) }
}
