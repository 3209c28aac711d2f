//! What follows from a proven identity: a known person, a new one, or one more identity of a person.

use std::time::Duration;

use moment::Timestamp;
use thiserror::Error;

use crate::attempt::AttemptPurpose;
use crate::identity::{IdentityClaims, PersonId};
use crate::sign_up::{
    SignUpApplicant, SignUpDecision, SignUpPolicy, SignUpRefusal, decide_sign_up,
};

/// The age of a session up to which identities can be added in it, in seconds: a session that was
/// left open must not be enough.
pub const LINKING_AGE_S_MAX: u64 = 10 * 60;

/// The stored facts about a proven identity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArrivalFacts {
    /// The person who has the identity.
    pub identity_holder: Option<PersonId>,
    /// The person who has the verified address of the claims.
    pub address_holder: Option<AddressHolder>,
    /// True if there is an open invitation to the verified address of the claims.
    pub is_invited: bool,
    /// The session of the browser, for adding an identity.
    pub session: Option<LinkingSession>,
}

/// A person's address. One that was not verified gives no right to it, to the person or against
/// others: anybody could have entered it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AddressHolder {
    pub person: PersonId,
    pub is_verified: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkingSession {
    pub person: PersonId,
    /// The time of the sign-in.
    pub made_at: Timestamp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArrivalDecision {
    SignIn(PersonId),
    SignUp {
        gets_starting_credit: bool,
    },
    /// Adds the identity to the person, and the verified address unless another person has it.
    AddIdentity {
        person: PersonId,
        adds_address: bool,
    },
    /// The person has the identity already.
    AlreadyAdded(PersonId),
    Refused(ArrivalRefusal),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ArrivalRefusal {
    #[error(transparent)]
    SignUp(SignUpRefusal),
    #[error(
        "This address belongs to an account that signs in another way: sign in that way, then add \
         this one in the settings"
    )]
    AddressKnownElsewhere,
    #[error("This sign-in belongs to another account")]
    IdentityOfAnother,
    #[error("Sign in again first: ways to sign in are added within ten minutes of it")]
    SessionTooOld,
}

/// Decides what a proven identity leads to. It reaches a person only if that person has it, or adds it
/// in a session of its own: a mail address never selects an account.
pub fn decide_arrival(
    purpose: AttemptPurpose,
    claims: &IdentityClaims,
    facts: ArrivalFacts,
    policy: &SignUpPolicy,
    now: Timestamp,
) -> ArrivalDecision {
    match purpose {
        AttemptPurpose::SignIn => decide_sign_in(claims, facts, policy),
        AttemptPurpose::AddIdentity(person) => decide_addition(person, claims, facts, now),
    }
}

fn decide_sign_in(
    claims: &IdentityClaims,
    facts: ArrivalFacts,
    policy: &SignUpPolicy,
) -> ArrivalDecision {
    if let Some(person) = facts.identity_holder {
        return ArrivalDecision::SignIn(person);
    }
    let verified_address = claims.verified_address();
    if verified_address.is_some() && facts.address_holder.is_some_and(|it| it.is_verified) {
        return ArrivalDecision::Refused(ArrivalRefusal::AddressKnownElsewhere);
    }
    let applicant = SignUpApplicant { verified_address, is_invited: facts.is_invited };
    match decide_sign_up(policy, applicant) {
        SignUpDecision::Admitted { gets_starting_credit } => {
            ArrivalDecision::SignUp { gets_starting_credit }
        }
        SignUpDecision::Refused(refusal) => {
            ArrivalDecision::Refused(ArrivalRefusal::SignUp(refusal))
        }
    }
}

fn decide_addition(
    person: PersonId,
    claims: &IdentityClaims,
    facts: ArrivalFacts,
    now: Timestamp,
) -> ArrivalDecision {
    let is_fresh = facts.session.is_some_and(|session| {
        let age_max = Duration::from_secs(LINKING_AGE_S_MAX);
        session.person == person && now.since(session.made_at) <= age_max
    });
    if !is_fresh {
        return ArrivalDecision::Refused(ArrivalRefusal::SessionTooOld);
    }
    match facts.identity_holder {
        Some(holder) if holder == person => ArrivalDecision::AlreadyAdded(person),
        Some(_) => ArrivalDecision::Refused(ArrivalRefusal::IdentityOfAnother),
        None => {
            let holder = facts.address_holder.filter(|it| it.is_verified);
            let is_free = holder.is_none_or(|holder| holder.person == person);
            let adds_address = claims.verified_address().is_some() && is_free;
            ArrivalDecision::AddIdentity { person, adds_address }
        }
    }
}
