from scurry.cep import *
