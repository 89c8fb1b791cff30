import { MavenJars } from '../support/maven.js';

const jars = new MavenJars('kafka');

/** The folder of the broker's jars. */
export const kafkaJars = (): Promise<string> => jars.fetch();

/** Why no broker can be started; undefined if one can. */
export const whyNoBroker = (): string | undefined => jars.whyNot;
