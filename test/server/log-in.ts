export { goToServer, logIn, openSignIn, type SignInPage } from '../../src/devnet/log-in.ts'
