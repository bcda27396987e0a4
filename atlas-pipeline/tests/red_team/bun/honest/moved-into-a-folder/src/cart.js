export * from './cart/index.js';
