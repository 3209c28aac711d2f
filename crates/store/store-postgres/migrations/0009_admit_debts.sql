-- Payments by card can be taken back after their credit was spent. What is missing is a debt: the
-- account `debt` of its owner, whose debits are never below its credits. Codes 9 to 13 move money for
-- payments that are taken back and come in again.
ALTER TABLE account DROP CONSTRAINT account_check1;
ALTER TABLE account ADD CONSTRAINT account_never_overdrawn CHECK (owner IS NULL
    OR CASE name WHEN 'debt' THEN credits <= debits AND pending = 0
        ELSE debits + pending <= credits END);
ALTER TABLE transfer DROP CONSTRAINT transfer_code_check;
ALTER TABLE transfer ADD CONSTRAINT transfer_code_check CHECK (code BETWEEN 1 AND 13);
