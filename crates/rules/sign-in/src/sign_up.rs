//! The operator's rules for new people.

use thiserror::Error;

use crate::mail_address::{MailAddress, MailDomain};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SignUpPolicy {
    /// Only people who are known already sign in.
    Off,
    /// Besides them, people with an invitation.
    Invited,
    /// Besides these, people with a verified address at one of the domains. Subdomains do not count.
    Domains(Vec<MailDomain>),
    Open,
}

/// A person who is not known yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignUpApplicant<'a> {
    /// An address that a provider or a mail link has verified.
    pub verified_address: Option<&'a MailAddress>,
    /// True if there is an open invitation to that address.
    pub is_invited: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignUpDecision {
    /// A person without a verified address is admitted, and asked for one by mail later; the
    /// starting credit waits for it.
    Admitted {
        gets_starting_credit: bool,
    },
    Refused(SignUpRefusal),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum SignUpRefusal {
    #[error("New accounts cannot be made here")]
    Off,
    #[error("You need an invitation: ask a member to invite this address")]
    NotInvited,
    #[error("Sign in with an address of a domain that may sign up here")]
    OtherDomain,
    #[error("Your sign-in provider has not verified your address: verify it there first")]
    AddressUnverified,
}

/// Decides about a person who is not known. Those who are known always sign in, whatever the policy.
pub fn decide_sign_up(policy: &SignUpPolicy, applicant: SignUpApplicant<'_>) -> SignUpDecision {
    let address = applicant.verified_address;
    // An invitation is to an address, which must be verified to be theirs.
    let is_invited = applicant.is_invited && address.is_some();
    let refusal = match policy {
        SignUpPolicy::Off => Some(SignUpRefusal::Off),
        SignUpPolicy::Open => None,
        SignUpPolicy::Invited | SignUpPolicy::Domains(_) if is_invited => None,
        SignUpPolicy::Invited if address.is_none() => Some(SignUpRefusal::AddressUnverified),
        SignUpPolicy::Invited => Some(SignUpRefusal::NotInvited),
        SignUpPolicy::Domains(domains) => match address {
            None => Some(SignUpRefusal::AddressUnverified),
            Some(address) if domains.contains(&address.domain()) => None,
            Some(_) => Some(SignUpRefusal::OtherDomain),
        },
    };
    match refusal {
        Some(refusal) => SignUpDecision::Refused(refusal),
        None => SignUpDecision::Admitted { gets_starting_credit: address.is_some() },
    }
}
