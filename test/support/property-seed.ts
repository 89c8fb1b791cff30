import fc from 'fast-check';

const { PROPERTY_SEED } = process.env;

/** Properties are tried with the same values in every run; `PROPERTY_SEED=<whole number>` tries others. */
fc.configureGlobal({ seed: PROPERTY_SEED === undefined ? 20_000 : Number(PROPERTY_SEED) });
