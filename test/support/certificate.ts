import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A PKCS #12 file with a key and its certificate. */
export interface KeyStore {
  readonly file: string;
  readonly password: string;
}

/** Makes a key and a self-signed certificate of 127.0.0.1, with the keytool of the JDK. */
export async function makeCertificate({ file, password }: KeyStore): Promise<void> {
  const store = ['-keystore', file, '-storepass', password, '-alias', 'server'];
  const subject = ['-dname', 'CN=127.0.0.1', '-ext', 'san=ip:127.0.0.1'];
  const key = ['-keyalg', 'EC', '-storetype', 'PKCS12', '-validity', '30'];
  await run('keytool', ['-genkeypair', ...key, ...subject, ...store]);
}

/** Writes the certificate as PEM. */
export async function exportCertificate({ file, password }: KeyStore, pem: string): Promise<void> {
  await run('keytool', [
    '-exportcert',
    '-rfc',
    '-file',
    pem,
    '-keystore',
    file,
    '-storepass',
    password,
    '-alias',
    'server',
  ]);
}
